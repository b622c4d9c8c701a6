// The actor who made a change, as audit entries identify it: by kind and ID, never by name or email address.

export type Actor =
  | { readonly kind: "client" | "api_key" | "member" | "consumer" | "agent"; readonly id: string }
  /** The person on a certificate or share. Only the way in which the person was verified is recorded. */
  | { readonly kind: "subject"; readonly verifiedBy: "email_code" | "manage_link" | "account" | "revoke_link" }
  /** A caller who was not verified. */
  | { readonly kind: "visitor" }
  /** The people who run the service, acting manually. */
  | { readonly kind: "operator" }
  | { readonly kind: "system" };

const identifiedKinds = ["client", "api_key", "member", "consumer", "agent"] as const;
const verifications = ["email_code", "manage_link", "account", "revoke_link"] as const;

/** Parses the text form of an actor. Returns null for any other text. */
export const parseActor = (text: string): Actor | null => {
  if (text === "visitor") return { kind: "visitor" };
  if (text === "operator") return { kind: "operator" };
  if (text === "service") return { kind: "system" };
  const [prefix, value = ""] = text.split(":", 2);
  const kind = identifiedKinds.find((name) => name === prefix);
  if (kind !== undefined) return value === "" ? null : { kind, id: value };
  const verifiedBy = verifications.find((name) => name === value);
  return prefix === "subject" && verifiedBy !== undefined ? { kind: "subject", verifiedBy } : null;
};

/** Returns the text form of an actor. Audit chains commit to this text, so its format must never change. */
export const formatActor = (actor: Actor): string => {
  switch (actor.kind) {
    case "subject":
      return `subject:${actor.verifiedBy}`;
    case "visitor":
      return "visitor";
    case "operator":
      return "operator";
    case "system":
      return "service";
    default:
      return `${actor.kind}:${actor.id}`;
  }
};
