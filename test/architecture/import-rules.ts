// Defines which folders may import which other folders. docs/internals/architecture.md shows the same table, and a test compares the two.

export interface ImportRule {
  /** A folder or file. For each file, the rule with the longest matching path applies. */
  readonly from: string;
  /** Folders and files in the repository. A folder may always import from itself. */
  readonly allowed: readonly string[];
  /** Folders and files that may be imported as types only. */
  readonly types?: readonly string[];
  /** Built-in modules and npm packages by name, or `any` for tools. */
  readonly packages: readonly string[] | "any";
}

/** What the API, the pages and the agent server may import. They call operations and never storage. */
const surface = ["core", "workers/http", "workers/operations", "workers/limits.ts", "workers/log.ts", "workers/env.ts"];

/** Folders that the composition root may import. A folder in workers/ without a rule of its own may import nothing. */
const everything = ["core", "storage", "durable-objects", "workers"];

export const importRules: readonly ImportRule[] = [
  { from: "core", allowed: [], packages: ["node:crypto"] },
  { from: "storage", allowed: ["core"], packages: ["drizzle-orm", "node:zlib"] },
  { from: "durable-objects", allowed: ["core", "storage"], packages: ["cloudflare:workers"] },
  { from: "workers/adapters", allowed: ["core"], types: ["workers/env.ts"], packages: "any" },
  {
    from: "workers/operations",
    allowed: ["core", "storage", "workers/log.ts", "workers/limits.ts"],
    types: ["durable-objects", "workers/adapters", "workers/env.ts", "workers/platform"],
    packages: [],
  },
  {
    from: "workers/http",
    allowed: [...surface, "storage/faults.ts"],
    types: ["workers/platform"],
    packages: ["hono", "zod", "@hono/zod-openapi"],
  },
  {
    from: "workers/api",
    allowed: [...surface, "workers/api", "workers/pages"],
    types: ["storage", "workers/platform"],
    packages: ["hono", "zod", "@hono/zod-openapi"],
  },
  {
    from: "workers/mcp",
    allowed: [...surface, "workers/api"],
    types: ["storage", "workers/platform"],
    packages: ["hono", "zod", "@hono/zod-openapi"],
  },
  { from: "workers/pages", allowed: [...surface, "workers/pages"], types: ["storage", "workers/platform"], packages: ["hono", "qr"] },
  { from: "workers/pages/client", allowed: ["core", "verifier"], packages: [] },
  {
    from: "workers/background",
    allowed: ["core", "storage", "workers/operations", "workers/log.ts"],
    types: ["workers/platform"],
    packages: [],
  },
  { from: "workers/limits.ts", allowed: ["core"], packages: [] },
  { from: "workers/log.ts", allowed: ["core", "storage/faults.ts"], packages: [] },
  { from: "workers/env.ts", allowed: ["core", "workers/limits.ts"], types: ["durable-objects"], packages: [] },
  { from: "workers/platform", allowed: everything, packages: ["cloudflare:workers", "node:async_hooks"] },
  { from: "workers/app.ts", allowed: everything, packages: ["hono"] },
  { from: "workers/index.ts", allowed: everything, packages: [] },
  { from: "workers/ledger", allowed: everything, packages: [] },
  { from: "widget", allowed: ["core/forms"], packages: [] },
  { from: "widget/build.mjs", allowed: ["widget"], packages: "any" },
  { from: "verifier", allowed: ["core"], packages: "any" },
  {
    from: "kit",
    allowed: ["core"],
    packages: ["node:child_process", "node:fs", "node:path", "node:timers", "node:url"],
  },
  { from: "kit/build.ts", allowed: ["kit", "core", "verifier"], packages: "any" },
  {
    from: "scripts",
    allowed: ["core", "storage", "durable-objects", "workers", "widget", "verifier", "kit", "svc.config.ts"],
    packages: "any",
  },
  { from: "svc.config.ts", allowed: ["scripts/deploy"], packages: [] },
  {
    from: "test",
    allowed: ["core", "storage", "durable-objects", "workers", "widget", "verifier", "kit", "scripts", "docs"],
    packages: "any",
  },
];

/** Returns one table row for a rule, as docs/internals/architecture.md shows it. */
export const formatImportRow = ({ from, allowed, types, packages }: ImportRule): string => {
  const formatNames = (names: readonly string[]): string =>
    names.length === 0 ? "nothing" : names.map((name) => `\`${name}\``).join(", ");
  return `| \`${from}\` | ${formatNames(allowed)} | ${formatNames(types ?? [])} | ${packages === "any" ? "any" : formatNames(packages)} |`;
};
