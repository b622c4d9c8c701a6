// docs/server.json is what the registry of MCP servers takes: it has rules of its own, and the server must be the one that answers.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { read } from "./repository.ts";

/** The members that the registry's schema of 2025-12-11 asks for, as far as a remote server uses them. */
const schema = z.strictObject({
  $schema: z.literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z.string().max(255),
  remotes: z.array(z.strictObject({ type: z.literal("streamable-http"), url: z.url() })).length(1),
});

describe("docs/server.json", () => {
  const server = schema.parse(JSON.parse(read("docs/server.json")));

  test("is of the version that the server says it is", () => {
    expect(read("workers/mcp/spec-era.ts")).toContain(`version: "${server.version}"`);
  });

  test("names the address of wrangler.toml", () => {
    expect(read("wrangler.toml")).toContain(`MCP_URL = "${server.remotes[0]?.url}"`);
  });
});
