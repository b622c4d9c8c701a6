// Schemas, examples and mapper for sign-in.
import { z } from "@hono/zod-openapi";
import { realms } from "../../../core/access/session.ts";
import { emailCodeSchema, toWire } from "../../http/wire.ts";
import type { SignedInUser } from "../../operations/access/get-signed-in-user.ts";

const realmEnum = z.enum(realms);
export const realmSchema = realmEnum.meta({
  description: "Where to sign in: `business` for the account of a business, `consumer` for a person's own account.",
  example: "business",
});
const emailSchema = z.string().meta({ description: "Email address.", example: "owner@acme-solar.example" });

export const signInCodeRequestSchema = z.object({ email: emailSchema, realm: realmSchema }).openapi("CodeRequest");
export const signInCodeVerificationSchema = z
  .object({
    email: emailSchema,
    code: emailCodeSchema,
    realm: realmSchema,
    name: z.string().nullish().meta({
      description: "Your name, at most 200 characters. Stored only the first time you sign in as a consumer.",
      example: "Pat Example",
    }),
  })
  .openapi("CodeProof");

export const memberUserExample = {
  id: "mem_00k3v9d2m4q8x1c7b5n0t6w2h9",
  email: "owner@acme-solar.example",
  realm: "business",
  role: "owner",
  business_id: "biz_00f7m2k9x4c1v8b5n3q6t0w2h7",
};
export const consumerUserExample = {
  id: "con_00z6y4x2w8v1u5t3s7r9q0p2n4",
  email: "pat@example.com",
  realm: "consumer",
  role: null,
  business_id: null,
};
export const userSchema = z
  .object({
    id: z.string().meta({ description: "ID of the user. Starts with `mem_` for a member or invited person, or `con_` for a consumer." }),
    email: z.string().meta({ description: "Email address, with the capitalization in which it was first entered." }),
    realm: realmEnum,
    role: z.enum(["owner", "member"]).nullable().meta({
      description: "Role in the business; `null` for a consumer, and for a person who has been invited but has not joined a business yet.",
    }),
    business_id: z.string().nullable().meta({
      description:
        "ID of the member's business; `null` for a consumer, and for a person who has been invited but has not joined a business yet.",
    }),
  })
  .openapi("SignedInUser");

export const sessionSchema = userSchema
  .extend({ user: userSchema.meta({ description: "The signed-in user, with the same fields as the sign-in response." }) })
  .openapi("Session");

export const signedInSchema = z.object({
  user: userSchema,
  created: z.boolean().meta({ description: "`true` if this sign-in created a consumer or business account." }),
});

export const userToWire = (user: SignedInUser): z.input<typeof userSchema> => toWire(userSchema, user);
