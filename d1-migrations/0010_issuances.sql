-- An issuance is up to four rows and a fact two, and each statement of a batch is sent, timed, measured and answered for on its own.
-- So each is one insert into a view that holds nothing, and a trigger writes the rows, all or none of them.
CREATE VIEW issuances (
  id, business_id, business_revision, business_name, client_id, environment, purpose, purpose_folded, disclosure_hash,
  disclosure_text, entities, entities_accepted, entities_rejected, origin_domain, issued_at, fingerprint, subject_hash,
  subject_masked, subject_sealed, email_index, phone_index, evidence_sealed, evidence_hash, gpc, captured_via, signature,
  signature_kid, manage_token_hash, policies_not_before, policy_page, retention_until
) AS SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE FALSE;

-- The certificate's business_id is looked up under the revision that was decided on: if the account, a domain or a client
-- changed since, it is NULL, the NOT NULL fails, and the whole batch is undone. Without a fresh look at the origin's policies to
-- share, it asks for one: behind any that is asked for already (the largest exact number of JavaScript), else due at once.
CREATE TRIGGER issuances_written INSTEAD OF INSERT ON issuances BEGIN
  INSERT INTO purposes (business_id, environment, purpose, purpose_folded, active)
    VALUES (NEW.business_id, NEW.environment, NEW.purpose, NEW.purpose_folded, 1)
    ON CONFLICT (business_id, environment, purpose) DO UPDATE SET active = active + 1;
  INSERT INTO disclosures (hash, text) VALUES (NEW.disclosure_hash, NEW.disclosure_text) ON CONFLICT (hash) DO NOTHING;
  INSERT INTO certificates (
    id, business_id, business_name, client_id, environment, purpose_id, disclosure_hash, entities, entities_accepted,
    entities_rejected, origin_domain, issued_at, fingerprint, subject_hash, subject_masked, subject_sealed, email_index,
    phone_index, evidence_sealed, evidence_hash, gpc, captured_via, signature, signature_kid, manage_token_hash,
    policy_capture_id, retention_until
  ) VALUES (
    NEW.id, (SELECT b.id FROM businesses b WHERE b.id = NEW.business_id AND b.revision = NEW.business_revision),
    NEW.business_name, NEW.client_id, NEW.environment,
    (SELECT p.id FROM purposes p WHERE p.business_id = NEW.business_id AND p.environment = NEW.environment AND p.purpose = NEW.purpose),
    NEW.disclosure_hash, NEW.entities, NEW.entities_accepted, NEW.entities_rejected, NEW.origin_domain, NEW.issued_at,
    NEW.fingerprint, NEW.subject_hash, NEW.subject_masked, NEW.subject_sealed, NEW.email_index, NEW.phone_index,
    NEW.evidence_sealed, NEW.evidence_hash, NEW.gpc, NEW.captured_via, NEW.signature, NEW.signature_kid, NEW.manage_token_hash,
    (SELECT q.id FROM policy_captures q WHERE q.domain = NEW.origin_domain AND q.captured_at > NEW.policies_not_before
      ORDER BY q.captured_at DESC LIMIT 1),
    NEW.retention_until
  );
  INSERT INTO outbox (kind, entity_id, topic, payload, next_at, created_at)
    SELECT 'policy', c.id, c.origin_domain, NEW.policy_page,
      CASE WHEN EXISTS (SELECT 1 FROM outbox w WHERE w.kind = 'policy' AND w.topic = c.origin_domain) THEN 9007199254740991 ELSE c.issued_at END,
      c.issued_at
    FROM certificates c WHERE c.id = NEW.id AND c.policy_capture_id IS NULL;
END;

-- What a change calls for: its entry for the audit chain and, with an anchor_id, its statement for the ledger.
CREATE VIEW facts (
  id, shard, chain, type, entity_type, entity_id, at, payload_hash, payload_sealed, anchor_id, ledger_id, statement, entry_hash
) AS SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE FALSE;

CREATE TRIGGER facts_written INSTEAD OF INSERT ON facts BEGIN
  INSERT INTO audit_outbox (id, shard, chain, type, entity_type, entity_id, at, payload_hash, payload_sealed) VALUES
    (NEW.id, NEW.shard, NEW.chain, NEW.type, NEW.entity_type, NEW.entity_id, NEW.at, NEW.payload_hash, NEW.payload_sealed);
  INSERT INTO anchors (id, ledger_id, kind, entity_id, event, statement, entry_hash, next_at, created_at)
    SELECT NEW.anchor_id, NEW.ledger_id, 'event', NEW.entity_id, NEW.type, NEW.statement, NEW.entry_hash, NEW.at, NEW.at
    WHERE NEW.anchor_id IS NOT NULL;
END;
