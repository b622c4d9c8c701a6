// IDs of records that do not exist.

/** For each path parameter, an ID that belongs to no record. A route with a new parameter needs an entry. */
export const unknownRecords: Readonly<Record<string, string>> = {
  cert_id: "cc_00000000000000000000000000",
  webhook_id: "whk_00000000000000000000000000",
  delivery_id: "dlv_00000000000000000000000000",
  share_id: "shr_00000000000000000000000000",
  session_id: "ssn_00000000000000000000000000",
  passkey_id: "psk_00000000000000000000000000",
  token_id: "tok_00000000000000000000000000",
  domain_id: "dom_00000000000000000000000000",
  key_id: "key_00000000000000000000000000",
  member_id: "mem_00000000000000000000000000",
  business_id: "biz_00000000000000000000000000",
  client_id: "pc_live_00000000000000000000000000",
  removal_id: "rmv_00000000000000000000000000",
  request_id: "req_00000000000000000000000000",
};

/** Replaces the parameters of a path, such as `{cert_id}`. */
export const fillPath = (path: string, records: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => {
    const value = records[name];
    if (value === undefined) throw new Error(`no record for {${name}} of ${path}`);
    return value;
  });
