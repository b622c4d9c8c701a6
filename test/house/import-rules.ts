// Which folder may import from where. AGENTS.md shows the same table; a test keeps the two equal.

export interface ImportRule {
  /** Folder or file. A file obeys the rule with the longest path it lies in. */
  readonly from: string;
  /** Folders and files of the repository. Its own folder is always allowed. */
  readonly may: readonly string[];
  /** Places only types may come from: nothing of them runs here. */
  readonly types?: readonly string[];
  /** Packages of the runtime and of npm, by name; `any` where tools live. */
  readonly packages: readonly string[] | "any";
}

/** What the surfaces share: API and pages ask operations and touch no store. */
const surface = [
  "core",
  "workers/http",
  "workers/operations",
  "workers/services.ts",
  "workers/limits.ts",
  "workers/log.ts",
  "workers/env.ts",
];

/** Where everything is put together. A folder of workers/ that is not named below has no rights at all. */
const everything = ["core", "storage", "durable-objects", "workers"];

export const importRules: readonly ImportRule[] = [
  { from: "core", may: [], packages: ["node:crypto"] },
  { from: "storage", may: ["core"], packages: ["drizzle-orm"] },
  { from: "durable-objects", may: ["core", "storage"], packages: ["cloudflare:workers"] },
  { from: "workers/adapters", may: ["core"], types: ["workers/env.ts"], packages: "any" },
  {
    from: "workers/operations",
    may: ["core", "storage", "workers/log.ts", "workers/limits.ts"],
    types: ["workers/services.ts", "workers/env.ts"],
    packages: [],
  },
  { from: "workers/http", may: [...surface, "storage/faults.ts"], packages: ["hono", "zod", "@hono/zod-openapi"] },
  { from: "workers/api", may: [...surface, "workers/api", "workers/pages"], packages: ["hono", "zod", "@hono/zod-openapi"] },
  { from: "workers/mcp", may: [...surface, "workers/api"], packages: ["hono", "zod", "@hono/zod-openapi"] },
  { from: "workers/pages", may: [...surface, "workers/pages"], packages: ["hono", "qr"] },
  { from: "workers/pages/client", may: ["core", "verifier"], packages: [] },
  {
    from: "workers/background",
    may: ["core", "storage", "workers/operations", "workers/log.ts"],
    types: ["workers/services.ts"],
    packages: [],
  },
  { from: "workers/limits.ts", may: ["core"], packages: [] },
  { from: "workers/log.ts", may: ["core", "storage/faults.ts"], packages: [] },
  { from: "workers/env.ts", may: ["core", "workers/limits.ts"], types: ["durable-objects"], packages: [] },
  { from: "workers/services.ts", may: everything, packages: ["cloudflare:workers"] },
  { from: "workers/proof-services.ts", may: everything, packages: [] },
  { from: "workers/endpoint-lane-binding.ts", may: everything, packages: [] },
  { from: "workers/app.ts", may: everything, packages: ["hono"] },
  { from: "workers/index.ts", may: everything, packages: [] },
  { from: "workers/ledger", may: everything, packages: [] },
  { from: "widget", may: ["core/forms"], packages: [] },
  { from: "widget/build.mjs", may: ["widget"], packages: "any" },
  { from: "verifier", may: ["core"], packages: "any" },
  { from: "kit", may: ["core"], packages: [] },
  { from: "kit/build.ts", may: ["kit", "core", "verifier"], packages: "any" },
  { from: "scripts", may: ["core", "storage", "workers", "widget", "verifier", "kit"], packages: "any" },
  { from: "test", may: ["core", "storage", "durable-objects", "workers", "widget", "verifier", "kit", "scripts", "docs"], packages: "any" },
];

/** One row a rule, as AGENTS.md prints it. */
export const importRow = ({ from, may, types, packages }: ImportRule): string => {
  const code = (names: readonly string[]): string => (names.length === 0 ? "nothing" : names.map((name) => `\`${name}\``).join(", "));
  return `| \`${from}\` | ${code(may)} | ${code(types ?? [])} | ${packages === "any" ? "any" : code(packages)} |`;
};
