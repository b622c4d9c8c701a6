// Tests the whole service with the command line of the MCP Inspector, a client by the makers of the Model Context Protocol. The Inspector
// takes 110 MB, so `npm run interop` installs it separately and runs this file. `npm test` does not.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { createToken, createShare, signInToService } from "../support/assistants.ts";
import { startServiceForFile } from "../support/local-service.ts";

const program = join(process.env.INSPECTOR ?? "", "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const eras = ["legacy", "auto", "modern"] as const;

const service = await startServiceForFile();
let shareId = "";
let personsToken = "";
let businessToken = "";

beforeAll(async () => {
  const cookie = await signInToService(service, "consumer", service.world.consumerEmail);
  shareId = await createShare(service, cookie);
  personsToken = await createToken(service, "consumer", cookie);
  businessToken = await createToken(service, "business", await signInToService(service, "business", service.world.ownerEmail));
});

interface CommandResult {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

const runInspector = (token: string, args: readonly string[]): Promise<CommandResult> =>
  new Promise((resolve) => {
    const where = ["--cli", `${service.origin}/mcp`, "--transport", "http", "--header", `Authorization: Bearer ${token}`];
    const child = spawn(process.execPath, [program, ...where, ...args]);
    const texts = { output: "", errors: "" };
    child.stdout.on("data", (chunk: Buffer) => {
      texts.output += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      texts.errors += chunk.toString();
    });
    child.on("close", (status) => resolve({ status, ...texts }));
  });

const expectJson = ({ status, output, errors }: CommandResult) => {
  expect({ status, errors: status === 0 ? "" : errors }).toEqual({ status: 0, errors: "" });
  return JSON.parse(output);
};

describe.each(eras)("the Inspector, starting with the era %s", (era) => {
  const callInspector = (token: string, ...args: readonly string[]) => runInspector(token, ["--protocol-era", era, ...args]);

  test("lists the tools of people and businesses, and none that grants consent", async () => {
    const listToolNames = async (token: string): Promise<string[]> =>
      expectJson(await callInspector(token, "--method", "tools/list"))
        .tools.map(({ name }: { name: string }) => name)
        .sort();
    expect([await listToolNames(personsToken), await listToolNames(businessToken)]).toEqual([
      ["svc_get_audit", "svc_get_share", "svc_list_shares", "svc_revoke_share", "svc_update_field"],
      ["svc_get_audit", "svc_get_share", "svc_list_events", "svc_list_shares"],
    ]);
  });

  test("reads the shares of a person", async () => {
    const response = expectJson(await callInspector(personsToken, "--method", "tools/call", "--tool-name", "svc_list_shares"));
    expect(response.isError).not.toBe(true);
    expect(response.content[0].text).toContain(shareId);
  });

  test("gets an error for an unknown share", async () => {
    const nobodys = "shr_00000000000000000000000000";
    const args = ["--method", "tools/call", "--tool-name", "svc_get_share", "--tool-arg", `share_id=${nobodys}`];
    const { output } = await callInspector(personsToken, ...args);
    expect(JSON.parse(output).isError).toBe(true);
  });

  test("gets nothing with an invalid token", async () => {
    const { status, output, errors } = await callInspector(`pat_00${"0".repeat(43)}`, "--method", "tools/list");
    expect(status).not.toBe(0);
    expect(`${output}${errors}`).not.toContain("svc_list_shares");
  });
});
