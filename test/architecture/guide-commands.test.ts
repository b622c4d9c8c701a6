// Checks that a test runs every command in a served guide exactly as printed, or that this file gives the reason why no test does.
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

/** For each guide, the test file that runs all of the guide's commands. */
const testsByGuide: Readonly<Record<string, string>> = {
  "first-hour": "test/flows/first-hour.test.ts",
  sharing: "test/flows/sharing-guide.test.ts",
  kit: "test/flows/kit.test.ts",
  portal: "test/flows/guide-commands.test.ts",
  withdrawal: "test/flows/guide-commands.test.ts",
  "evidence-pack": "test/flows/guide-commands.test.ts",
  fingerprints: "test/flows/guide-commands.test.ts",
  ledger: "test/flows/guide-commands.test.ts",
  policies: "test/flows/guide-commands.test.ts",
};

/** Commands that no test runs: the start of each command, and the reason. */
const untestedCommands: Readonly<Record<string, string>> = {
  "npx @modelcontextprotocol/inspector": "a program that is not a dependency (docs/internals/dependencies.md); run manually",
  "claude mcp add": "a third-party program that connects to its own service; test/flows/agents.test.ts connects the same way",
  "npm run verify -- evidence.zip": "its files and hash are the reader's; test/interop/tools.test.ts runs the program on real packs",
};
const isUntested = ({ text }: Block): boolean => Object.keys(untestedCommands).some((beginning) => text.startsWith(beginning));

describe("a command that a guide prints", () => {
  test("is run by a test that reads the guide, or is a documented exception", () => {
    expect(commands.length).toBeGreaterThan(15);
    const unclaimed = commands.filter((block) => !isUntested(block) && testsByGuide[block.guide] === undefined);
    expect(unclaimed.map(({ guide, text }) => `${guide}: ${text}`)).toEqual([]);
    for (const [guide, path] of Object.entries(testsByGuide)) {
      expect(
        commands.some((block) => block.guide === guide && !isUntested(block)),
        guide,
      ).toBe(true);
      // The test must mention the guide whose code blocks it runs.
      expect([path, readRepositoryFile(path).includes(`${guide}.md`) || readRepositoryFile(path).includes(`"${guide}"`)]).toEqual([
        path,
        true,
      ]);
      expect([
        path,
        readRepositoryFile(path).includes('extractBlocks("sh")') || readRepositoryFile(path).includes("listCommands("),
      ]).toEqual([path, true]);
    }
  });

  test("is in a code block marked as a command", () => {
    const starts = /^\s*(?:curl|npx?|npm|node|svc|svc-verify|bash|printf|jq|claude|wrangler|git|openssl|python3?) /m;
    const hidden = blocks.filter(({ language, text }) => !commandLanguages.includes(language) && starts.test(text));
    expect(hidden.map(({ guide, text }) => `${guide}: ${text}`)).toEqual([]);
  });

  test("is an exception only while a guide prints it", () => {
    const unused = Object.keys(untestedCommands).filter((beginning) => !commands.some(({ text }) => text.startsWith(beginning)));
    expect(unused).toEqual([]);
  });
});
