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

/** What the surfaces share: pages and API ask operations and touch no store. */
const surface = {
  may: [
    "core",
    "storage/faults.ts",
    "workers/operations",
    "workers/api",
    "workers/pages",
    "workers/services.ts",
    "workers/limits.ts",
    "workers/log.ts",
    "workers/env.ts",
  ],
} as const;

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
  { from: "workers/api", ...surface, packages: ["hono", "zod", "@hono/zod-openapi"] },
  { from: "workers/pages", ...surface, packages: ["hono", "qr"] },
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
  { from: "workers", may: ["core", "storage", "durable-objects", "workers"], packages: ["hono"] },
  { from: "widget", may: [], packages: [] },
  { from: "widget/build.mjs", may: ["widget"], packages: "any" },
  { from: "verifier", may: ["core"], packages: "any" },
  { from: "scripts", may: ["core", "storage", "workers", "widget", "verifier"], packages: "any" },
  { from: "test", may: ["core", "storage", "durable-objects", "workers", "widget", "verifier", "scripts", "docs"], packages: "any" },
];

/** One row a rule, as AGENTS.md prints it. */
export const importRow = ({ from, may, types, packages }: ImportRule): string => {
  const code = (names: readonly string[]): string => (names.length === 0 ? "nothing" : names.map((name) => `\`${name}\``).join(", "));
  return `| \`${from}\` | ${code(may)} | ${code(types ?? [])} | ${packages === "any" ? "any" : code(packages)} |`;
};
