// Checks that package.json, which Cloudflare's dashboard reads, describes everything that a deployment needs, and that .dev.vars.example
// names every required secret.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const { experimental_readRawConfig } = await import("wrangler");
const { rawConfig } = experimental_readRawConfig({ config: "wrangler.toml" }) as unknown as {
  rawConfig: {
    readonly d1_databases: readonly { readonly binding: string }[];
    readonly kv_namespaces: readonly { readonly binding: string }[];
    readonly r2_buckets: readonly { readonly binding: string }[];
    readonly queues: { readonly producers: readonly { readonly binding: string }[] };
    readonly secrets: { readonly required: readonly string[] };
  };
};

const { cloudflare } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly cloudflare: { readonly bindings: Readonly<Record<string, { readonly description: string }>> };
};

test("package.json describes every resource and every required secret", () => {
  const [firstShard] = rawConfig.d1_databases; // only the first shard is required; operators can add more
  const resources = [firstShard ?? { binding: "" }, ...rawConfig.kv_namespaces, ...rawConfig.r2_buckets, ...rawConfig.queues.producers];
  const needed = [...resources.map(({ binding }) => binding), ...rawConfig.secrets.required];
  expect(Object.keys(cloudflare.bindings).toSorted()).toEqual(needed.toSorted());
  expect(Object.values(cloudflare.bindings).filter(({ description }) => !description.endsWith("."))).toEqual([]);
});

test(".dev.vars.example names every required secret and contains no value", () => {
  const lines = readFileSync(".dev.vars.example", "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(lines).toEqual(rawConfig.secrets.required.map((name) => `${name}=`));
});
