// `npm run admin`: what an operator does by hand, through the service's own routes, so that it is judged and audited like everything.
import { randomBytes } from "node:crypto";
import { sha256Hex } from "../core/hash.ts";
import { loadLocalSettings } from "./settings.ts";

const usage = `npm run admin -- token                       generates a token: the secret for you, its hash for the deployment
npm run admin -- show <biz_...>              status and plan of a business
npm run admin -- approve <biz_...>           a pending business becomes active
npm run admin -- suspend <biz_...>           no payment lifts it
npm run admin -- unsuspend <biz_...>
npm run admin -- close <biz_...>
npm run admin -- plan <biz_...> <free|business|enterprise>
npm run admin -- removal <rmv_...> <target>=<requested|in_progress|completed|rejected> ...
npm run admin -- stuck                       work that should have been done by now

ADMIN_URL is the root of the API (https://api.example.com/v1), ADMIN_TOKEN the secret. Without them the local service is asked.`;

const statusByCommand: Readonly<Record<string, string>> = { approve: "active", unsuspend: "active", suspend: "suspended", close: "closed" };

const callAdminRoute = async (path: string, body?: object): Promise<void> => {
  const local = process.env.ADMIN_URL === undefined ? loadLocalSettings() : null;
  const base = process.env.ADMIN_URL ?? `${local?.origin}/v1`;
  const token = process.env.ADMIN_TOKEN ?? local?.vars.ADMIN_TOKEN ?? "";
  const response = await fetch(`${base}/admin/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as {
    readonly data?: unknown;
    readonly error?: { readonly code: string; readonly message: string };
  };
  if (!response.ok) throw new Error(`${response.status} ${answer.error?.code}: ${answer.error?.message}`);
  console.log(JSON.stringify(answer.data, null, 2));
};

const [command = "", business = "", plan = ""] = process.argv.slice(2);
const path = `businesses/${encodeURIComponent(business)}`;
const status = statusByCommand[command];
try {
  if (command === "token") {
    const token = randomBytes(32).toString("base64url");
    console.log(`ADMIN_TOKEN=${token}\nADMIN_TOKEN_SHA256=${sha256Hex(token)}`);
  } else if (command === "stuck") await callAdminRoute("stuck");
  else if (command === "removal" && plan !== "") {
    const targets = Object.fromEntries(process.argv.slice(4).map((one) => one.split("=", 2)));
    await callAdminRoute(`removals/${encodeURIComponent(business)}`, { targets });
  } else if (command === "show" && business !== "") await callAdminRoute(path);
  else if (command === "plan" && plan !== "") await callAdminRoute(path, { plan });
  else if (status !== undefined && business !== "") await callAdminRoute(path, { status });
  else console.log(usage);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
