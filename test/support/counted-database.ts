// A database binding that counts the calls sent through it, including those of its sessions.

export interface CallCount {
  calls: number;
}

const originals = new WeakMap<object, D1PreparedStatement>();

const countStatement = (statement: D1PreparedStatement, count: CallCount): D1PreparedStatement => {
  const send =
    (name: "first" | "run" | "all" | "raw") =>
    (...args: never[]): Promise<unknown> => {
      count.calls += 1;
      return (statement[name] as (...args: never[]) => Promise<unknown>)(...args);
    };
  const counted = {
    bind: (...values: unknown[]) => countStatement(statement.bind(...values), count),
    ...{ first: send("first"), run: send("run"), all: send("all"), raw: send("raw") },
  } as unknown as D1PreparedStatement;
  originals.set(counted, statement);
  return counted;
};

/** Adds each call to `count`. A batch is one call. */
export const countDatabaseCalls = (binding: D1Database | D1DatabaseSession, count: CallCount): D1Database =>
  ({
    prepare: (sql: string) => countStatement(binding.prepare(sql), count),
    batch: (statements: D1PreparedStatement[]) => {
      count.calls += 1;
      return binding.batch(statements.map((one) => originals.get(one) as D1PreparedStatement));
    },
    withSession: (constraint: D1SessionConstraint) => countDatabaseCalls((binding as D1Database).withSession(constraint), count),
  }) as unknown as D1Database;
