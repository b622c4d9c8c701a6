// Checks that docs/internals/specification-index.md has every section of the specification that a comment cites, and that each of its rules
// lists code and a test. document-links.test.ts checks that the listed files exist.
import { expect, test } from "vitest";
import { listSourceFiles, readRepositoryFile } from "./repository.ts";

const page = readRepositoryFile("docs/internals/specification-index.md");
const sections = [...page.matchAll(/^## (.+)$/gm)].map(([, section]) => section as string);

/** Returns the text after each citation. A citation can continue on the next line of its comment. */
const listCitations = (file: string): readonly string[] =>
  [
    ...readRepositoryFile(file)
      .replaceAll(/\n\s*(?:\/\/|\*|--) /g, " ")
      .matchAll(/\bSPEC ([A-Z].{0,40})/g),
  ].map(([, text]) => text as string);

test("comments cite only sections of the specification index", () => {
  const citations = listSourceFiles()
    .filter((file) => !file.startsWith("test/architecture/"))
    .flatMap((file) => listCitations(file).map((text) => ({ file, text })));
  expect(citations.length).toBeGreaterThan(50);
  const unknown = citations.filter(({ text }) => !sections.some((section) => text.startsWith(section)));
  expect(unknown).toEqual([]);
});

test("every rule of the specification index has code and a test", () => {
  const rows = page.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| Rule |"));
  expect(rows.length).toBeGreaterThan(60);
  expect(rows.filter((row) => !/^\| [^|]+ \| [^|]*`[a-z0-9-]+\/[^|]+ \| `test\/[^|]+ \|$/.test(row))).toEqual([]);
});
