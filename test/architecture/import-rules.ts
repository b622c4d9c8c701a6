// Which folder may import from where. docs/internals/architecture.md shows the same table; a test keeps the two equal.

export interface ImportRule {
  /** Folder or file. A file obeys the rule with the longest path it lies in. */
  readonly from: string;
  /** Folders and files of the repository. Its own folder is always allowed. */
  readonly allowed: readonly string[];
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
  { from: "core", allowed: [], packages: ["node:crypto"] },
  { from: "storage", allowed: ["core"], packages: ["drizzle-orm"] },
  { from: "durable-objects", allowed: ["core", "storage"], packages: ["cloudflare:workers"] },
  { from: "workers/adapters", allowed: ["core"], types: ["workers/env.ts"], packages: "any" },
  {
    from: "workers/operations",
    allowed: ["core", "storage", "workers/log.ts", "workers/limits.ts"],
    types: ["durable-objects", "workers/adapters", "workers/env.ts", "workers/proof-services.ts"],
    packages: [],
  },
  { from: "workers/http", allowed: [...surface, "storage/faults.ts"], packages: ["hono", "zod", "@hono/zod-openapi"] },
  {
    from: "workers/api",
    allowed: [...surface, "workers/api", "workers/pages"],
    types: ["storage"],
    packages: ["hono", "zod", "@hono/zod-openapi"],
  },
  { from: "workers/mcp", allowed: [...surface, "workers/api"], types: ["storage"], packages: ["hono", "zod", "@hono/zod-openapi"] },
  { from: "workers/pages", allowed: [...surface, "workers/pages"], types: ["storage"], packages: ["hono", "qr"] },
  { from: "workers/pages/client", allowed: ["core", "verifier"], packages: [] },
  {
    from: "workers/background",
    allowed: ["core", "storage", "workers/operations", "workers/log.ts"],
    types: ["workers/services.ts"],
    packages: [],
  },
  { from: "workers/limits.ts", allowed: ["core"], packages: [] },
  { from: "workers/log.ts", allowed: ["core", "storage/faults.ts"], packages: [] },
  { from: "workers/env.ts", allowed: ["core", "workers/limits.ts"], types: ["durable-objects"], packages: [] },
  { from: "workers/services.ts", allowed: everything, packages: ["cloudflare:workers"] },
  { from: "workers/proof-services.ts", allowed: everything, packages: [] },
  { from: "workers/delivery-queue-binding.ts", allowed: everything, packages: [] },
  { from: "workers/app.ts", allowed: everything, packages: ["hono"] },
  { from: "workers/index.ts", allowed: everything, packages: [] },
  { from: "workers/ledger", allowed: everything, packages: [] },
  { from: "widget", allowed: ["core/forms"], packages: [] },
  { from: "widget/build.mjs", allowed: ["widget"], packages: "any" },
  { from: "verifier", allowed: ["core"], packages: "any" },
  { from: "kit", allowed: ["core"], packages: [] },
  { from: "kit/build.ts", allowed: ["kit", "core", "verifier"], packages: "any" },
  { from: "scripts", allowed: ["core", "storage", "workers", "widget", "verifier", "kit"], packages: "any" },
  {
    from: "test",
    allowed: ["core", "storage", "durable-objects", "workers", "widget", "verifier", "kit", "scripts", "docs"],
    packages: "any",
  },
];

/** One row a rule, as docs/internals/architecture.md prints it. */
export const formatImportRow = ({ from, allowed, types, packages }: ImportRule): string => {
  const code = (names: readonly string[]): string => (names.length === 0 ? "nothing" : names.map((name) => `\`${name}\``).join(", "));
  return `| \`${from}\` | ${code(allowed)} | ${code(types ?? [])} | ${packages === "any" ? "any" : code(packages)} |`;
};
