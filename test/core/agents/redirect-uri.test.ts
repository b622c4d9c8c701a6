// Tests which redirect URIs count as the same destination.
import { describe, expect, test } from "vitest";
import { isRegisteredRedirectUri, isSameRedirectUri } from "../../../core/agents/redirect-uri.ts";

describe("isRegisteredRedirectUri", () => {
  test.each([
    ["http://127.0.0.1/callback", "http://127.0.0.1:50123/callback"],
    ["http://127.0.0.1:7777/callback", "http://localhost:50123/callback"],
    ["http://localhost/callback", "http://127.0.0.1:50123/callback"],
    ["http://localhost:1/callback", "http://[::1]:2/callback"],
    ["http://[::1]/callback", "http://127.0.0.1:3/callback"],
    ["http://localhost", "http://127.0.0.1:50123/"],
    ["http://127.0.0.1:1/", "http://localhost:2"],
    ["https://app.example", "https://app.example/"],
    ["https://app.example/", "https://app.example"],
    ["https://app.example?x=1", "https://app.example/?x=1"],
    ["cursor://anysphere.cursor-mcp/oauth/callback", "cursor://anysphere.cursor-mcp/oauth/callback"],
  ])("matches %s with %s", (registered, requested) => {
    expect(isRegisteredRedirectUri([registered], requested)).toBe(true);
  });

  test.each([
    ["http://127.0.0.1/callback", "http://127.0.0.1/callback/"],
    ["http://127.0.0.1/callback", "http://127.0.0.1/Callback"],
    ["http://127.0.0.1/callback", "http://127.0.0.2/callback"],
    ["http://127.0.0.1/callback", "https://127.0.0.1/callback"],
    ["http://localhost/", "http://localhost.evil.example/"],
    ["http://loopback/", "http://127.0.0.1/"],
    ["https://app.example/cb", "https://app.example/cb/"],
    ["https://app.example/", "https://app.example/?x=1"],
    ["https://app.example/", "https://app.example:8443/"],
    ["https://app.example/", "http://app.example/"],
    ["https://app.example", "https://other.example"],
  ])("does not match %s with %s", (registered, requested) => {
    expect(isRegisteredRedirectUri([registered], requested)).toBe(false);
  });
});

test("isSameRedirectUri ignores how the loopback host and the empty path are written, but not the port", () => {
  expect(isSameRedirectUri("http://localhost:7", "http://127.0.0.1:7/")).toBe(true);
  expect(isSameRedirectUri("http://localhost:7/", "http://localhost:8/")).toBe(false);
});
