// Filters audit entries by actor: one member, one API key, or all actors of one kind.
import type { Actor } from "../actor.ts";

const groupKinds = ["client", "person", "agent", "service"] as const;

export type ActorFilter =
  | { readonly kind: "member" | "api_key"; readonly id: string }
  /** `person` includes visitors. `service` includes operators. */
  | { readonly kind: (typeof groupKinds)[number] };

/** Parses "member:mem_…", "api_key:key_…" or the name of a group. Returns null for any other text. */
export const parseActorFilter = (text: string): ActorFilter | null => {
  const group = groupKinds.find((kind) => kind === text);
  if (group !== undefined) return { kind: group };
  const [kind, id = ""] = text.split(":", 2);
  return (kind === "member" || kind === "api_key") && id !== "" ? { kind, id } : null;
};

const groupOf = ({ kind }: Actor): Actor["kind"] | "person" | "service" => {
  if (kind === "subject" || kind === "consumer" || kind === "visitor") return "person";
  return kind === "system" || kind === "operator" ? "service" : kind;
};

export const matchesActor = (actor: Actor | null, filter: ActorFilter): boolean => {
  if (actor === null) return false;
  if ("id" in filter) return actor.kind === filter.kind && actor.id === filter.id;
  return groupOf(actor) === filter.kind;
};
