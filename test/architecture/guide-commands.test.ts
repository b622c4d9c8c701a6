// Every command that a guide at /docs prints is run by a test, as it is printed: this lists the commands, and who runs them.
import { describe, expect, test } from "vitest";
import { guidePath, servedGuides } from "../../scripts/guides.ts";
import { readRepositoryFile } from "./repository.ts";

interface Block {
  readonly guide: string;
  readonly language: string;
  readonly text: string;
}
const blocks: readonly Block[] = servedGuides.flatMap((guide) =>
  [...readRepositoryFile(guidePath(guide)).matchAll(/^```([a-z]*)\n([\s\S]*?)^```/gm)].map(([, language = "", text = ""]) => ({
    guide,
    language,
    text,
  })),
);
const commandLanguages = ["sh", "console"];
const commands = blocks.filter(({ language }) => commandLanguages.includes(language));

/** Tests that take every command of a guide, whichever there are. */
const testsByGuide: Readonly<Record<string, string>> = {
  "first-hour": "test/flows/first-hour.test.ts",
  sharing: "test/flows/sharing-guide.test.ts",
  kit: "test/flows/kit.test.ts",
  withdrawal: "test/flows/guide-commands.test.ts",
  "evidence-pack": "test/flows/guide-commands.test.ts",
  fingerprints: "test/flows/guide-commands.test.ts",
  policies: "test/flows/guide-commands.test.ts",
};

/** Run by nobody here, by how they begin. */
const untestedCommands: Readonly<Record<string, string>> = {
  "npx @modelcontextprotocol/inspector": "a program that is not among our dependencies (docs/internals/dependencies.md); run by hand",
  "claude mcp add": "another vendor's program, which speaks to its own service; test/flows/agents.test.ts connects as it does",
  "npm run verify -- evidence.zip": "its files and its <hex> are the reader's; test/interop/tools.test.ts runs the program on real packs",
};
const isUntested = ({ text }: Block): boolean => Object.keys(untestedCommands).some((beginning) => text.startsWith(beginning));

describe("a command that a guide prints", () => {
  test("is run by a test that reads the guide, or a reason says why not", () => {
    expect(commands.length).toBeGreaterThan(15);
    const unclaimed = commands.filter((block) => !isUntested(block) && testsByGuide[block.guide] === undefined);
    expect(unclaimed.map(({ guide, text }) => `${guide}: ${text}`)).toEqual([]);
    for (const [guide, path] of Object.entries(testsByGuide)) {
      expect(
        commands.some((block) => block.guide === guide && !isUntested(block)),
        guide,
      ).toBe(true);
      // the test reads the guide and takes its blocks from it
      expect([path, readRepositoryFile(path).includes(`${guide}.md`) || readRepositoryFile(path).includes(`"${guide}"`)]).toEqual([
        path,
        true,
      ]);
      expect([path, readRepositoryFile(path).includes('blocks("sh")') || readRepositoryFile(path).includes("commandsOf(")]).toEqual([
        path,
        true,
      ]);
    }
  });

  test("stands in a block that says it is one", () => {
    const starts = /^\s*(?:curl|npx?|npm|node|svc|svc-verify|bash|printf|jq|claude|wrangler|git|openssl|python3?) /m;
    const hidden = blocks.filter(({ language, text }) => !commandLanguages.includes(language) && starts.test(text));
    expect(hidden.map(({ guide, text }) => `${guide}: ${text}`)).toEqual([]);
  });

  test("is an exception only while it is printed", () => {
    const unused = Object.keys(untestedCommands).filter((beginning) => !commands.some(({ text }) => text.startsWith(beginning)));
    expect(unused).toEqual([]);
  });
});
