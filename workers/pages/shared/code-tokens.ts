// Splits code into the parts that pages color, such as keywords, strings and comments. It uses patterns instead of a parser. Text that
// matches no pattern stays plain. Joining all parts gives the original code.

/** The CSS class of a part: `k` for a keyword, tag or key, `s` for a string, `c` for a comment, and null for anything else. */
export type TokenKind = "k" | "s" | "c" | null;

export interface CodeToken {
  readonly kind: TokenKind;
  readonly text: string;
}

/**
 * The regular expressions for each kind of part, as source text. If two match at the same position, `c` takes precedence over `s`, and `s`
 * over `k`.
 */
interface Patterns {
  readonly c?: string;
  readonly s: string;
  readonly k?: string;
}

const matchWords = (list: string): string => String.raw`\b(?:${list.replaceAll(" ", "|")})\b`;

const doubleQuoted = String.raw`"(?:[^"\\\n]|\\.)*"`;
const singleQuoted = String.raw`'(?:[^'\\\n]|\\.)*'`;
const slashComment = String.raw`//[^\n]*|/\*[^]*?\*/`;

const script: Patterns = {
  c: slashComment,
  s: `${doubleQuoted}|${singleQuoted}|${"`(?:[^`\\\\]|\\\\.)*`"}`,
  k: matchWords(
    "async await break case catch class const default else export finally for from function if import in let new of return switch throw try type while",
  ),
};
/** A string may span lines, because commands send JSON in single quotes. An apostrophe inside a word does not begin a string. */
const shell: Patterns = {
  c: String.raw`(?<=^|\s)#[^\n]*`,
  s: String.raw`"(?:[^"\\]|\\.)*"|(?<=[\s=(])'[^']*'`,
};

const patternsByLanguage: Readonly<Record<string, Patterns>> = {
  json: { s: String.raw`"(?:[^"\\]|\\.)*"(?!\s*:)`, k: String.raw`"(?:[^"\\]|\\.)*"(?=\s*:)` },
  sh: shell,
  console: shell,
  html: { c: "<!--[^]*?-->", s: `(?<==)(?:"[^"]*"|'[^']*')`, k: String.raw`(?<=</?)[A-Za-z][\w-]*` },
  js: script,
  ts: script,
  go: {
    c: slashComment,
    s: `${doubleQuoted}|${"`[^`]*`"}`,
    k: matchWords("const defer else err for func if import nil package range return type var"),
  },
  php: {
    c: slashComment,
    s: `${doubleQuoted}|${singleQuoted}`,
    k: matchWords("echo else exit foreach function if list new null return throw"),
  },
  python: {
    c: String.raw`#[^\n]*`,
    s: `"""[^]*?"""|${doubleQuoted}|${singleQuoted}`,
    k: matchWords("and as def else except for from if import in not or raise return try while with"),
  },
  toml: { c: String.raw`#[^\n]*`, s: doubleQuoted, k: String.raw`^\[+[^\]\n]+\]+|^[\w.-]+(?=\s*=)` },
  http: { s: String.raw`(?<=: )[^\n]+`, k: matchWords("GET POST PUT PATCH DELETE") },
};

/** `language` is the language of a Markdown code block. Code in an unknown language is one plain part. */
export const splitCode = (code: string, language: string): readonly CodeToken[] => {
  const patterns = Object.hasOwn(patternsByLanguage, language) ? patternsByLanguage[language] : undefined;
  if (patterns === undefined) return [{ kind: null, text: code }];
  const groups = (["c", "s", "k"] as const).flatMap((kind) => (patterns[kind] === undefined ? [] : [`(?<${kind}>${patterns[kind]})`]));
  const tokens: CodeToken[] = [];
  let end = 0;
  for (const match of code.matchAll(new RegExp(groups.join("|"), "gm"))) {
    const [text] = match;
    const [kind] = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? [null];
    if (match.index > end) tokens.push({ kind: null, text: code.slice(end, match.index) });
    tokens.push({ kind: kind as TokenKind, text });
    end = match.index + text.length;
  }
  if (end < code.length) tokens.push({ kind: null, text: code.slice(end) });
  return tokens;
};
