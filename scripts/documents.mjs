#!/usr/bin/env node
// Checks what is written: links on disk, links in rustdoc, paths, words that are gone, first sentences, and the
// drawings in rustdoc.
//
//   scripts/documents.mjs                      everything that needs no build
//   scripts/documents.mjs --rustdoc target/doc the same, and every link of the pages that `cargo doc` wrote there
//   scripts/documents.mjs --write              writes docs/drawings/rustdoc.md anew from the drawings
//
// Each run first shows that it can fail: it checks small trees with one mistake each. Needs Node.js alone.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, normalize, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");

// The crates that are published, by the folder that each is in.
const CRATES = [".", "conformance", ...readdirSync(ROOT).filter((name) => /^request-state-\w+$/.test(name))];

// ------------------------------------------------------------------------------------------------ trees

// A tree is a map from paths to texts. Paths of folders are in it as well, without a text.
function tree(files) {
    const paths = new Map();
    for (const [path, text] of Object.entries(files)) {
        paths.set(path, text);
        for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) paths.set(folder, null);
    }
    return paths;
}

function treeOfDisk() {
    const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT, encoding: "utf8" });
    const files = {};
    for (const path of listed.split("\0").filter((path) => path && existsSync(join(ROOT, path)))) {
        const isText = /\.(md|rs|toml|svg|lua|mjs|py|sh)$/.test(path);
        files[path] = isText ? readFileSync(join(ROOT, path), "utf8") : null;
    }
    return tree(files);
}

const markdown = (paths) => [...paths].filter(([path, text]) => path.endsWith(".md") && text !== null);

// Rust sources whose docs somebody may read: no tests, and nothing of what is only run here.
const sources = (paths) =>
    [...paths].filter(([path, text]) => text !== null && /^((request-state-\w+|conformance)\/)?src\/.*\.rs$/.test(path));

// ------------------------------------------------------------------------------------------------ Markdown

// Blanks out what `pattern` matches, line by line, so that places stay where they were.
const blank = (text, pattern) => text.replace(pattern, (found) => found.replace(/[^\n]/g, " "));

const withoutFences = (text) => blank(text, /^( *)(```+|~~~+)[^\n]*\n[\s\S]*?^ *\2[^\n]*$/gm);
const withoutCode = (text) => blank(withoutFences(text), /(`+)(?!`)[^`](?:[\s\S]*?[^`])??\1(?!`)/g);

const lineOf = (text, offset) => text.slice(0, offset).split("\n").length;

// The anchors of a page, as GitHub and rustdoc make them of headings.
function anchors(text) {
    const seen = new Map();
    const found = new Set();
    for (const [, heading] of withoutFences(text).matchAll(/^ {0,3}#{1,6} +(.*?) *#*$/gm)) {
        const shown = heading.replace(/\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])/g, "$1");
        const slug = shown.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
        const count = seen.get(slug) ?? 0;
        seen.set(slug, count + 1);
        found.add(count ? `${slug}-${count}` : slug);
    }
    for (const [, id] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) found.add(id);
    return found;
}

// Every link and image of a page: where it goes, or the label that is not defined.
function links(text) {
    const prose = withoutCode(text);
    const definitions = new Map();
    const found = [];
    for (const match of prose.matchAll(/^ {0,3}\[([^\]]+)\]: +<?([^\s>]+)>?.*$/gm)) {
        const label = match[1].toLowerCase();
        if (!definitions.has(label)) definitions.set(label, match[2]);
        found.push({ offset: match.index, target: match[2], label, isDefinition: true });
    }
    const used = new Set();
    for (const match of prose.matchAll(/\]\(\s*<?([^\s()<>]+)>?[^)]*\)/g)) found.push({ offset: match.index, target: match[1] });
    for (const match of prose.matchAll(/\b(?:src|href|srcset)="([^"]+)"/g)) found.push({ offset: match.index, target: match[1] });
    for (const match of text.matchAll(/\[((?:`[^`]*`|[^\[\]`])+)\](?:\[((?:`[^`]*`|[^\[\]`])*)\])?/g)) {
        const after = text[match.index + match[0].length];
        // Not in code, and neither an inline link nor a definition.
        if (prose.slice(match.index, match.index + 1) !== "[" || after === "(" || (after === ":" && match[2] === undefined)) continue;
        const label = (match[2] || match[1]).toLowerCase().replace(/\s+/g, " ");
        if (definitions.has(label)) used.add(label);
        else if (match[2] !== undefined) found.push({ offset: match.index, missing: label });
    }
    return { found, definitions, used };
}

// ------------------------------------------------------------------------------------------------ links on disk

// docs.rs has each crate's pages, and the files of its package.
function docsRs(target) {
    const pages = target.match(/^https:\/\/docs\.rs\/(request-state[\w-]*)(?:\/(?:latest\/([\w./-]*)?)?)?(?:#(.*))?$/);
    if (pages) return { crate: pages[1], page: pages[2] ?? "", anchor: pages[3] };
    const source = target.match(/^https:\/\/docs\.rs\/crate\/(request-state[\w-]*)\/latest\/source\/([^#]*)$/);
    return source ? { crate: source[1], file: source[2] } : null;
}

const folderOf = (crate) => CRATES.find((folder) => (folder === "." ? "request-state" : folder.replace(/^conformance$/, "request-state-conformance")) === crate);

// What is wrong with a link from the page `from`; null if it is alive.
function deadOnDisk(paths, from, target) {
    const known = docsRs(target);
    if (known) {
        const folder = folderOf(known.crate);
        if (folder === undefined) return `${known.crate} is not one of the crates`;
        const file = known.file?.replace(/\/$/, "");
        return file && !paths.has(normalize(join(folder, file))) ? `${known.crate} has no file ${file}` : null;
    }
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return null; // another site, which is not asked
    const [path, anchor] = target.split("#");
    const to = path ? normalize(join(dirname(from), decodeURIComponent(path))).replace(/\/$/, "") : from;
    if (!paths.has(to)) return `${path} does not exist`;
    const page = paths.get(to);
    if (anchor && to.endsWith(".md") && !anchors(page).has(anchor)) return `${to} has no heading #${anchor}`;
    return null;
}

function checkLinks(paths) {
    const findings = [];
    for (const [path, text] of markdown(paths)) {
        if (DEFINITIONS.includes(path)) continue;
        const { found, definitions, used } = links(text);
        for (const { offset, target, missing, label, isDefinition } of found) {
            const at = { path, line: lineOf(text, offset) };
            if (missing !== undefined) findings.push({ ...at, what: `[${missing}] is not defined` });
            else {
                const dead = deadOnDisk(paths, path, target);
                if (dead) findings.push({ ...at, what: `dead link: ${dead}` });
                else if (isDefinition && definitions.get(label) !== target) findings.push({ ...at, what: `[${label}] is defined twice` });
                else if (isDefinition && !used.has(label)) findings.push({ ...at, what: `nothing refers to [${label}]` });
            }
        }
    }
    return findings;
}

// Files of nothing but definitions, for rustdoc.
const DEFINITIONS = ["src/links.md", "docs/drawings/rustdoc.md"];

// Pages that rustdoc shows: a path in them would be dead there. So they have reference-style links, and a file
// of definitions comes before them.
function checkShown(paths) {
    const findings = [];
    const used = new Set();
    const shownPages = new Set();
    for (const [source, text] of sources(paths)) {
        const own = new Set();
        for (const [, shown] of text.matchAll(/include_str!\("([^"]+\.md)"\)/g)) {
            const path = normalize(join(dirname(source), shown));
            const page = paths.get(path);
            if (!page) continue;
            shownPages.add(path);
            if (DEFINITIONS.includes(path)) {
                for (const label of links(page).definitions.keys()) own.add(label);
                continue;
            }
            for (const { offset, target, label, isDefinition } of links(page).found) {
                if (target === undefined || /^([a-z][a-z0-9+.-]*:|#)/i.test(target)) continue;
                const at = { path, line: lineOf(page, offset) };
                if (!isDefinition) findings.push({ ...at, what: `${target} is dead in rustdoc: use a reference, [text][label]` });
                else if (!own.has(label)) findings.push({ ...at, what: `[${label}] is dead in rustdoc: define it in ${DEFINITIONS[0]}` });
                used.add(label);
            }
        }
    }
    for (const [path] of markdown(paths)) {
        if (/^docs\/[^/]+$/.test(path) && !shownPages.has(path)) findings.push({ path, line: 1, what: "is not a page of the manual: src/manual.rs" });
    }
    for (const path of DEFINITIONS) {
        for (const { offset, label } of links(paths.get(path) ?? "").found) {
            if (!used.has(label)) findings.push({ path, line: lineOf(paths.get(path), offset), what: `no page has a link [${label}]` });
        }
    }
    return findings;
}

// ------------------------------------------------------------------------------------------------ docs in Rust

// The doc comments of a source, as blocks: first line, text, and the code line after it.
function docBlocks(text) {
    const lines = text.split("\n");
    const blocks = [];
    for (let i = 0; i < lines.length; i += 1) {
        const isInner = /^\s*\/\/!/.test(lines[i]);
        const pattern = isInner ? /^\s*\/\/! ?(.*)$/ : /^\s*\/\/\/(?!\/) ?(.*)$/;
        if (!pattern.test(lines[i])) continue;
        const block = { line: i + 1, text: [], item: "", hidden: false };
        for (; i < lines.length && pattern.test(lines[i]); i += 1) block.text.push(lines[i].match(pattern)[1]);
        let item = i;
        for (; /^\s*(#\[|\/\/(?!\/))/.test(lines[item] ?? ""); item += 1) {
            block.hidden ||= lines[item].includes("doc(hidden)");
            while (/^\s*#\[/.test(lines[item]) && !lines[item].trimEnd().endsWith("]") && item + 1 < lines.length && !/\]\s*$/.test(lines[item])) item += 1;
        }
        block.item = lines[item] ?? "";
        block.text = block.text.join("\n");
        blocks.push(block);
        i -= 1;
    }
    return blocks;
}

// Paths that docs name: `docs/…`, `tests/…` and so on must exist, from the root or from the crate.
const NAMED = /(?<![\w./<-])((?:docs|vectors|scripts|examples|tests|src|conformance|mcp-conformance|bench|request-state-\w+)\/[\w./-]*[\w/])(?![\w<{…*])/g;

function checkPaths(paths) {
    const findings = [];
    const texts = markdown(paths).map(([path, text]) => ({ path, text: text.replace(/https?:\/\/\S+/g, ""), line: 1 }));
    for (const [path, text] of sources(paths)) for (const block of docBlocks(text)) texts.push({ path, text: block.text.replace(/https?:\/\/\S+/g, ""), line: block.line });
    for (const { path, text, line } of texts) {
        const bases = [".", dirname(path), ...CRATES.filter((crate) => path.startsWith(`${crate}/`))];
        if (path.startsWith("examples/postgres/")) bases.push("examples/postgres");
        for (const [, span] of text.matchAll(/`([^`\n]+)`/g)) {
            for (const match of span.matchAll(NAMED)) {
                const named = match[1].replace(/\/$/, "");
                if (bases.some((base) => paths.has(normalize(join(base, named))))) continue;
                findings.push({ path, line: line + lineOf(text, text.indexOf(span)) - 1, what: `${named} does not exist` });
            }
        }
    }
    return findings;
}

// A heading that is a folder (### `src/`) is followed by a table with a row for each Rust file in it. Each folder of
// core has such a table in ARCHITECTURE.md.
function checkFileTables(paths) {
    const findings = [];
    const folders = new Set([...paths.keys()].filter((path) => path.startsWith("request-state-core/src/") && path.endsWith(".rs")).map(dirname));
    for (const folder of folders) {
        if (!(paths.get("ARCHITECTURE.md") ?? "").includes(`\n### \`${folder}/\`\n`)) findings.push({ path: "ARCHITECTURE.md", line: 1, what: `there is no table of ${folder}/` });
    }
    for (const [path, text] of markdown(paths)) {
        for (const match of text.matchAll(/^### `([\w./-]+)\/`\n([\s\S]*?)(?=^#|(?![\s\S]))/gm)) {
            const listed = new Set([...match[2].matchAll(/^\| `([\w.]+)` \|/gm)].map(([, name]) => name));
            const there = [...paths.keys()].filter((file) => dirname(file) === match[1] && file.endsWith(".rs")).map((file) => file.slice(match[1].length + 1));
            const finding = { path, line: lineOf(text, match.index) };
            for (const name of there) if (!listed.has(name)) findings.push({ ...finding, what: `the table of ${match[1]}/ has no ${name}` });
            for (const name of listed) if (!there.includes(name)) findings.push({ ...finding, what: `${match[1]}/ has no ${name}` });
        }
    }
    return findings;
}

// Where every codec that src/lib.rs exports must be named. CONTRIBUTING.md, "Adding a backend", has what to add there.
const EVERY_CODEC = [
    "README.md",
    "bench/src/lib.rs",
    "conformance/tests/backends.rs",
    "conformance/tests/laws/main.rs",
    "docs/backends.md",
    "examples/tour/main.rs",
    "mcp-conformance/src/bin/server/main.rs",
    "tests/backends/fixtures.rs",
    "tests/backends/secrets.rs",
    "tests/features.rs",
    "tests/vectors/file.rs",
];

function checkCodecs(paths) {
    const exports = [...(paths.get("src/lib.rs") ?? "").matchAll(/^pub use request_state_(?!core::)\w+::(.*);$/gm)];
    const codecs = exports.flatMap(([, names]) => names.match(/\w+/g));
    const missing = codecs.flatMap((codec) => EVERY_CODEC.filter((path) => !(paths.get(path) ?? "").includes(codec)).map((path) => ({ path, codec })));
    const findings = missing.map(({ path, codec }) => ({ path, line: 1, what: `${codec} is not named: see "Adding a backend" in CONTRIBUTING.md` }));
    const features = [...(paths.get("Cargo.toml") ?? "").matchAll(/= \["dep:request-state-\w+"\]$/gm)];
    if (features.length > codecs.length) findings.push({ path: "src/lib.rs", line: 1, what: `${features.length} features are backends, but only ${codecs.length} codecs are exported` });
    return findings;
}

// In docs that are published, a page of docs/ is a link to the manual: docs.rs has no docs/.
function checkNamedPages(paths) {
    const findings = [];
    for (const [path, text] of sources(paths)) {
        if (path.startsWith("src/")) continue;
        for (const block of docBlocks(text)) {
            for (const match of block.text.matchAll(/`docs\/[\w-]+\.md`/g)) {
                findings.push({ path, line: block.line + lineOf(block.text, match.index) - 1, what: `${match[0]}: link to the manual instead` });
            }
        }
    }
    return findings;
}

// ------------------------------------------------------------------------------------------------ words

// The list is in CONTRIBUTING.md: `gone`, what to write, and `exceptions`.
function words(contributing) {
    const section = contributing.split(/^### Words that are gone$/m)[1]?.split(/^#/m)[0] ?? "";
    const rows = section.split("\n").filter((line) => line.startsWith("| `"));
    return rows.flatMap((row) => {
        const [, gone, write, except = ""] = row.split("|");
        const phrases = (cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, phrase]) => phrase);
        const source = (phrase) => phrase.replace(/[.+?^${}()[\]\\]/g, "\\$&").replace(/\*/g, "\\w*").replace(/ /g, "\\s+");
        return phrases(gone).map((phrase) => ({
            phrase,
            write: write.replace(/`/g, "").trim(),
            pattern: new RegExp(`(?<![\\w'-])${source(phrase)}(?![\\w'])`, "gi"),
            except: phrases(except).map((other) => new RegExp(source(other), "gi")),
        }));
    });
}

// Prose of a text: no code, no links' targets.
function prose(text) {
    let plain = withoutCode(text);
    plain = blank(plain, /^ {0,3}\[[^\]]+\]: .*$/gm);
    plain = blank(plain, /\]\([^)]*\)/g);
    plain = blank(plain, /(?<=\])\[[^\]]*\]/g);
    plain = blank(plain, /^ *[*>-]? *"[^"\n]*":.*$/gm);
    return plain;
}

function gone(text, list) {
    const plain = prose(text);
    const found = [];
    for (const { phrase, write, pattern, except } of list) {
        const allowed = except.flatMap((other) => [...plain.matchAll(other)].map((match) => [match.index, match.index + match[0].length]));
        for (const match of plain.matchAll(pattern)) {
            const end = match.index + match[0].length;
            if (allowed.some(([from, to]) => from <= match.index && end <= to)) continue;
            found.push({ line: lineOf(plain, match.index), what: `"${match[0].replace(/\s+/g, " ")}": write ${write}` });
        }
    }
    return found;
}

function checkWords(paths) {
    const contributing = paths.get("CONTRIBUTING.md") ?? "";
    const list = words(contributing);
    const findings = list.length ? [] : [{ path: "CONTRIBUTING.md", line: 1, what: "the list of words that are gone is missing" }];
    for (const [path, text] of markdown(paths)) {
        if (DEFINITIONS.includes(path)) continue;
        // The list itself names them.
        const shown = path === "CONTRIBUTING.md" ? blank(text, /^\| `.*$/gm) : text;
        for (const { line, what } of gone(shown, list)) findings.push({ path, line, what });
    }
    for (const [path, text] of sources(paths)) {
        for (const block of docBlocks(text)) {
            for (const { line, what } of gone(block.text, list)) findings.push({ path, line: block.line + line - 1, what });
        }
        for (const match of text.matchAll(/#\[error\(\s*"((?:[^"\\]|\\.)*)"/g)) {
            for (const { what } of gone(match[1], list)) findings.push({ path, line: lineOf(text, match.index), what });
        }
    }
    return findings;
}

// ------------------------------------------------------------------------------------------------ first sentences

const NO_VERBS = new Set(["This", "Its", "As", "Is", "Was", "Has", "Always", "Less", "Plus", "Perhaps", "Bytes", "Keys", "Tokens", "Entries", "Names", "Answers", "Says", "Stands", "Tells", "Looks"]);

function checkVerbs(paths) {
    const findings = [];
    for (const [path, source] of sources(paths)) {
        // Tests are at the end of a file.
        const text = source.split(/^#\[cfg\(test\)\]$/m)[0];
        const traits = [...text.matchAll(/^pub trait [\s\S]*?^}/gm)].map((match) => [lineOf(text, match.index), lineOf(text, match.index + match[0].length)]);
        for (const block of docBlocks(text)) {
            const isPublic = /^\s*pub (const |async |unsafe )*fn /.test(block.item);
            const isOfTrait = /^\s*(async )?fn /.test(block.item) && traits.some(([from, to]) => from < block.line && block.line < to);
            if ((!isPublic && !isOfTrait) || block.hidden) continue;
            const first = (block.text.match(/^\S+/)?.[0] ?? "").replace(/,$/, "");
            if (/^[A-Z][a-z]*s$/.test(first) && !NO_VERBS.has(first)) continue;
            const sentence = block.text.split(/[.\n]/)[0];
            findings.push({ path, line: block.line, what: `the first sentence does not begin with a verb in the third person: "${sentence}"` });
        }
    }
    return findings;
}

// ------------------------------------------------------------------------------------------------ drawings

const DRAWINGS = "docs/drawings";
const FOR_RUSTDOC = `${DRAWINGS}/rustdoc.md`;

// rustdoc has no files of its own to show: the drawings are in the link.
function drawingsForRustdoc(paths) {
    const drawings = [...paths].filter(([path]) => path.startsWith(`${DRAWINGS}/`) && path.endsWith(".svg")).sort(([a], [b]) => (a < b ? -1 : 1));
    return drawings.map(([path, text]) => {
        const name = path.slice(DRAWINGS.length + 1, -".svg".length);
        return `[drawing-${name}]: data:image/svg+xml;base64,${Buffer.from(text).toString("base64")}\n`;
    }).join("");
}

function checkDrawings(paths) {
    const findings = [];
    if ((paths.get(FOR_RUSTDOC) ?? "") !== drawingsForRustdoc(paths)) findings.push({ path: FOR_RUSTDOC, line: 1, what: "is out of date: scripts/documents.mjs --write" });
    for (const [path, text] of paths) {
        if (!path.startsWith(`${DRAWINGS}/`) || !path.endsWith(".svg")) continue;
        for (const part of ["<title ", "<text", "prefers-color-scheme: dark"]) {
            if (!text.includes(part)) findings.push({ path, line: 1, what: `has no ${part}` });
        }
    }
    return findings;
}

// ------------------------------------------------------------------------------------------------ examples

// Every example that can be run has its one command in the README.
function checkExamples(paths) {
    const readme = paths.get("README.md") ?? "";
    const findings = [];
    for (const path of paths.keys()) {
        const name = path.match(/^(?:request-state-\w+\/)?examples\/(\w+)(?:\.rs|\/main\.rs)$/)?.[1];
        if (name && !new RegExp(`cargo run [^\`\\n]*--example ${name}\\b`).test(readme)) findings.push({ path, line: 1, what: `the README has no command for the example ${name}` });
    }
    return findings;
}

// ------------------------------------------------------------------------------------------------ rustdoc

function pagesOf(folder, prefix = "") {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const path = join(prefix, entry.name);
        if (entry.isDirectory()) return pagesOf(join(folder, entry.name), path);
        return entry.name.endsWith(".html") ? [path] : [];
    });
}

const unescape = (text) => text.replace(/&amp;/g, "&").replace(/&#x27;|&#39;/g, "'").replace(/&quot;/g, '"').replace(/&lt;/g, "<").replace(/&gt;/g, ">");

// `pages` is a map from paths to HTML, `exists` says of any other path whether it is there.
function checkRustdoc(pages, exists) {
    const ids = new Map();
    const idsOf = (path) => {
        if (!ids.has(path)) ids.set(path, new Set([...pages.get(path).matchAll(/ id="([^"]+)"/g)].map(([, id]) => unescape(id))));
        return ids.get(path);
    };
    const findings = [];
    for (const [path, whole] of pages) {
        // What other crates implement for every type comes last, with docs that are theirs.
        const html = whole.split('<h2 id="blanket-implementations"')[0];
        for (const match of html.matchAll(/<(?:a|img)\b[^>]*? (?:href|src)="([^"]*)"/g)) {
            let target = unescape(match[1]);
            const known = docsRs(target);
            let to;
            if (known) {
                if (known.file !== undefined) continue; // on disk, where it is checked
                to = known.page || known.crate.replace(/-/g, "_");
                target = `#${known.anchor ?? ""}`;
            } else if (/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(target)) continue;
            const [file, anchor = ""] = target.split("#");
            to = normalize(to ?? (file ? join(dirname(path), decodeURIComponent(file.split("?")[0])) : path)).replace(/\/$/, "");
            if (!to.endsWith(".html") && pages.has(join(to, "index.html"))) to = join(to, "index.html");
            // A private module's page leads to the item that is exported, with the anchor.
            const redirect = pages.get(to)?.match(/http-equiv="refresh" content="0;URL=([^"]+)"/)?.[1];
            if (redirect) to = normalize(join(dirname(to), redirect));
            const finding = { path, line: lineOf(html, match.index) };
            if (!pages.has(to)) {
                if (!exists(to)) findings.push({ ...finding, what: `dead link in rustdoc: ${unescape(match[1])}` });
            } else if (anchor && !idsOf(to).has(anchor) && !idsOf(to).has(decodeURIComponent(anchor))) findings.push({ ...finding, what: `dead link in rustdoc: ${to} has no #${anchor}` });
        }
    }
    return findings;
}

function rustdocOf(folder) {
    const crates = readdirSync(folder).filter((name) => CRATES.includes(name.replaceAll("_", "-")) || /^request_state(_conformance)?$/.test(name));
    if (!crates.includes("request_state")) throw new Error(`${folder} has no docs of request-state: run cargo doc first`);
    const pages = new Map();
    for (const crate of crates) for (const page of pagesOf(join(folder, crate))) pages.set(join(crate, page), readFileSync(join(folder, crate, page), "utf8"));
    return checkRustdoc(pages, (path) => existsSync(join(folder, path)));
}

// ------------------------------------------------------------------------------------------------ self-test

const LIST = "### Words that are gone\n\n| gone | write | except |\n|---|---|---|\n| `ring`, `rings` | keyring | |\n| `is no` | is not a | `there is no` |\n| `refus*` | reject | |\n";

function selfTest() {
    const good = {
        "CONTRIBUTING.md": LIST,
        "README.md": "# A\n\n[b][b], [`c`][c] and [here](#a). `ring` is code. There is no limit.\n\n```sh\ncargo run --example tour\n# ring\n```\n\n[b]: docs/b.md#b-c\n[c]: https://docs.rs/request-state-core\n",
        "docs/b.md": "# B, `c`\n\n## B: c\n\n`docs/b.md` is this page.\n\n### `src/`\n\n| file | subject |\n|---|---|\n| `lib.rs` | it |\n",
        "ARCHITECTURE.md": "# C\n\n### `request-state-core/src/`\n\n| file | subject |\n|---|---|\n| `lib.rs` | it |\n",
        "examples/tour/main.rs": "",
        "src/links.md": "[b]: crate::b\n",
        "src/lib.rs": "#![doc = include_str!(\"links.md\")]\n#![doc = include_str!(\"../README.md\")]\n#![doc = include_str!(\"../docs/b.md\")]\n\n/// Returns it.\n#[must_use]\npub fn it() {}\n\npub trait T {\n    /// Makes it.\n    fn make();\n}\n",
        "request-state-core/src/lib.rs": "/// Returns it.\npub fn it() {}\n",
    };
    const edited = (path, from, to) => {
        if (!good[path].includes(from)) throw new Error(`self-test: ${path} has no ${from}`);
        return { ...good, [path]: good[path].replace(from, to) };
    };
    const trees = [
        ["checkLinks", "docs/x.md does not exist", edited("README.md", "docs/b.md#b-c", "docs/x.md")],
        ["checkLinks", "has no heading #b", edited("README.md", "#b-c", "#b")],
        ["checkLinks", "[d] is not defined", edited("README.md", "[b][b]", "[b][b], [d][d]")],
        ["checkLinks", "nothing refers to [b]", edited("README.md", "[b][b]", "b")],
        ["checkLinks", "has no heading #x", edited("README.md", "(#a)", "(#x)")],
        ["checkLinks", "request-state-cor is not one of the crates", edited("README.md", "request-state-core", "request-state-cor")],
        ["checkShown", "docs/b.md is dead in rustdoc", edited("README.md", "[b][b]", "[b](docs/b.md)")],
        ["checkShown", "[b] is dead in rustdoc", edited("src/links.md", "[b]: ", "[d]: ")],
        ["checkShown", "is not a page of the manual", edited("src/lib.rs", "../docs/b.md", "../docs/c.md")],
        ["checkShown", "no page has a link [d]", edited("src/links.md", "[b]: ", "[d]: crate::d\n[b]: ")],
        ["checkPaths", "docs/c.md does not exist", edited("docs/b.md", "`docs/b.md`", "`docs/c.md`")],
        ["checkFileTables", "src/ has no lib2.rs", edited("docs/b.md", "| `lib.rs` |", "| `lib.rs` | it |\n| `lib2.rs` |")],
        ["checkFileTables", "has no lib.rs", edited("docs/b.md", "| `lib.rs` |", "| lib.rs |")],
        ["checkFileTables", "no table of request-state-core/src/", edited("ARCHITECTURE.md", "### `", "## `")],
        ["checkCodecs", "only 0 codecs are exported", { ...good, "Cargo.toml": "[features]\nnew = [\"dep:request-state-new\"]\n" }],
        ["checkCodecs", "NewCodec is not named", edited("src/lib.rs", "/// Returns it.", "pub use request_state_new::NewCodec;\n\n/// Returns it.")],
        ["checkNamedPages", "link to the manual", edited("request-state-core/src/lib.rs", "it.", "it: `docs/b.md`.")],
        ["checkWords", '"ring": write keyring', edited("README.md", "`ring` is code", "A ring")],
        ["checkWords", '"is no": write is not a', edited("docs/b.md", "is this", "is\nno")],
        ["checkWords", '"Refusing": write reject', edited("request-state-core/src/lib.rs", "Returns it.", "Returns it. Refusing is that.")],
        ["checkWords", '"refused": write reject', edited("request-state-core/src/lib.rs", "pub fn", '#[error("it was refused")]\npub fn')],
        ["checkWords", "is missing", edited("CONTRIBUTING.md", "### Words", "## Words")],
        ["checkVerbs", '"The thing"', edited("request-state-core/src/lib.rs", "Returns it.", "The thing.")],
        ["checkVerbs", '"Says it"', edited("src/lib.rs", "Returns it.", "Says it.")],
        ["checkVerbs", '"It is made"', edited("src/lib.rs", "Makes it.", "It is made.")],
        ["checkDrawings", "is out of date", { ...good, "docs/drawings/a.svg": "<title <text prefers-color-scheme: dark" }],
        ["checkDrawings", "has no <text", { ...good, "docs/drawings/a.svg": "<title prefers-color-scheme: dark" }],
        ["checkExamples", "no command for the example tour", edited("README.md", "--example tour", "--example other")],
    ];
    const checks = Object.fromEntries(CHECKS.map((check) => [check.name, check]));
    for (const check of CHECKS) {
        const found = check(tree(good));
        if (found.length) throw new Error(`self-test: ${check.name} finds something in a tree without mistakes: ${found[0].path}: ${found[0].what}`);
        if (!trees.some(([name]) => name === check.name)) throw new Error(`self-test: ${check.name} has no tree with a mistake`);
    }
    for (const [name, what, files] of trees) {
        const found = checks[name](tree(files));
        if (!found.some((finding) => finding.what.includes(what))) throw new Error(`self-test: ${name} does not find "${what}"`);
    }
    const pages = (link) => new Map([["a/index.html", `<a href="${link}">`], ["a/b.html", '<h2 id="c">']]);
    for (const link of ["b.html", "b.html#c", "../a/index.html", "https://example.com/x"]) {
        if (checkRustdoc(pages(link), () => false).length) throw new Error(`self-test: checkRustdoc finds ${link}`);
    }
    for (const link of ["c.html", "b.html#d", "../docs/b.md", "https://docs.rs/request-state/latest/request_state/x/"]) {
        if (!checkRustdoc(pages(link), () => false).length) throw new Error(`self-test: checkRustdoc does not find ${link}`);
    }
    return trees.length + 4;
}

// ------------------------------------------------------------------------------------------------ main

const CHECKS = [checkLinks, checkShown, checkPaths, checkFileTables, checkCodecs, checkNamedPages, checkWords, checkVerbs, checkDrawings, checkExamples];

function main(args) {
    const mistakes = selfTest();
    if (args.includes("--write")) writeFileSync(join(ROOT, FOR_RUSTDOC), drawingsForRustdoc(treeOfDisk()));
    const paths = treeOfDisk();
    const findings = CHECKS.flatMap((check) => check(paths));
    const rustdoc = args.indexOf("--rustdoc");
    if (rustdoc >= 0) findings.push(...rustdocOf(resolve(args[rustdoc + 1])));
    for (const { path, line, what } of findings) console.error(`${path}:${line}: ${what}`);
    console.log(`documents: ${findings.length} findings; the self-test found ${mistakes} of ${mistakes} mistakes`);
    return findings.length ? 1 : 0;
}

process.exitCode = main(process.argv.slice(2));
