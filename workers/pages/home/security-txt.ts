// GET /.well-known/security.txt (RFC 9116): how to report a vulnerability. Returns 404 if the operator has set no security contact.
import type { Hono } from "hono";
import { dayMs, toDayNumber, toIso } from "../../../core/time.ts";
import type { Config } from "../../env.ts";
import type { AppEnv } from "../../http/context.ts";
import { failure } from "../../http/envelope.ts";

const securityTxtPath = "/.well-known/security.txt";
const validityDays = 180; // RFC 9116 recommends an expiry date less than a year in the future

export const registerSecurityTxtRoutes = (app: Hono<AppEnv>, { securityContact, baseUrl }: Config): void => {
  app.get(securityTxtPath, (c) => {
    if (securityContact === null) return failure(c, "not_found");
    const today = toDayNumber(c.var.services.clock()) * dayMs;
    const lines = [
      `Contact: ${securityContact}`,
      `Expires: ${toIso(today + validityDays * dayMs)}`,
      "Preferred-Languages: en, es, fr",
      `Canonical: ${new URL(baseUrl).origin}${securityTxtPath}`,
    ];
    return c.text(`${lines.join("\n")}\n`);
  });
};
