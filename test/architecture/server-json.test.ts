// docs/reference/server.json is what the registry of MCP servers takes: it has rules of its own, and the server must be the one that answers.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readRepositoryFile } from "./repository.ts";

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
  // No range: each version is published once.
  version: z
    .string()
    .max(255)
    .regex(/^\d+\.\d+\.\d+$/),
  remotes: z.array(z.strictObject({ type: z.literal("streamable-http"), url: z.url() })).length(1),
});

describe("docs/reference/server.json", () => {
  const server = schema.parse(JSON.parse(readRepositoryFile("docs/reference/server.json")));

  test("is refused by these rules where it breaks one", () => {
    const broken: Readonly<Record<string, object>> = {
      "no namespace": { name: "svc" },
      "two slashes": { name: "com.example/svc/x" },
      "a long description": { description: "x".repeat(101) },
      "an empty title": { title: "" },
      "a range": { version: "^1.0.0" },
      "a stream": { remotes: [{ type: "sse", url: "https://mcp.example.com/mcp" }] },
      "a header with a secret": { remotes: [{ type: "streamable-http", url: "https://mcp.example.com/mcp", headers: [] }] },
      "another schema": { $schema: "https://static.modelcontextprotocol.io/schemas/2025-08-26/server.schema.json" },
    };
    for (const [name, change] of Object.entries(broken)) expect(schema.safeParse({ ...server, ...change }).success, name).toBe(false);
  });

  test("is of the version that the server says it is", () => {
    expect(readRepositoryFile("workers/mcp/protocol-2025-03-26.ts")).toContain(`version: "${server.version}"`);
  });

  test("names the address of wrangler.toml", () => {
    expect(readRepositoryFile("wrangler.toml")).toContain(`MCP_URL = "${server.remotes[0]?.url}"`);
  });
});
