// Checks that docs/reference/server.json follows the rules of the MCP registry and describes the real server.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readRepositoryFile } from "./repository.ts";

/** The keys that a remote server uses, from the registry schema of 2025-12-11. */
const schema = z.strictObject({
  $schema: z.literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  // The registry does not allow a version range. It publishes each version once.
  version: z
    .string()
    .max(255)
    .regex(/^\d+\.\d+\.\d+$/),
  remotes: z.array(z.strictObject({ type: z.literal("streamable-http"), url: z.url() })).length(1),
});

describe("docs/reference/server.json", () => {
  const server = schema.parse(JSON.parse(readRepositoryFile("docs/reference/server.json")));

  test("is refused when it breaks a rule of the registry", () => {
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

  test("has the version that the server reports", () => {
    expect(readRepositoryFile("workers/mcp/protocol-2025-03-26.ts")).toContain(`version: "${server.version}"`);
  });

  test("has the URL of wrangler.toml", () => {
    expect(readRepositoryFile("wrangler.toml")).toContain(`MCP_URL = "${server.remotes[0]?.url}"`);
  });
});
