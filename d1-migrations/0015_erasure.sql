-- The person of a certificate can be erased: once, as a whole, never undone. Hashes, times, status and proofs stay.
CREATE INDEX certificates_retention ON certificates (retention_until) WHERE subject_erased_at IS NULL;

-- Which certificate a kept answer or a waiting mail is about, so that it can end with it.
ALTER TABLE idempotency ADD COLUMN cert_id TEXT;
CREATE INDEX idempotency_certificate ON idempotency (cert_id) WHERE cert_id IS NOT NULL;
ALTER TABLE mail_outbox ADD COLUMN cert_id TEXT;
CREATE INDEX mail_outbox_certificate ON mail_outbox (cert_id) WHERE cert_id IS NOT NULL;

-- Of everything that is the person's, nothing changes but by this one step. The two texts that may not be NULL become empty.
CREATE TRIGGER certificates_person BEFORE UPDATE OF
  subject_masked, subject_sealed, subject_erased_at, email_index, phone_index, evidence_sealed, manage_token_hash
ON certificates
WHEN OLD.subject_erased_at IS NOT NULL OR NEW.subject_erased_at IS NULL OR NEW.subject_masked <> '{}'
  OR NEW.email_index IS NOT NULL OR NEW.phone_index IS NOT NULL OR NEW.evidence_sealed <> '' OR NEW.manage_token_hash <> ''
BEGIN SELECT RAISE(ABORT, 'the person of a certificate is erased once, as a whole'); END;

-- What the business wrote about a withdrawal can name the person: it ends with the person and not before.
DROP TRIGGER withdrawals_sealed;
CREATE TRIGGER withdrawals_sealed BEFORE UPDATE OF
  cert_id, business_id, environment, withdrawn_at, cease_by, method, scope, channel, received_at, receipt, signature, signature_kid
ON withdrawals BEGIN SELECT RAISE(ABORT, 'a withdrawal is immutable'); END;
CREATE TRIGGER withdrawals_note BEFORE UPDATE OF note_sealed ON withdrawals
WHEN NEW.note_sealed IS NOT NULL
  OR NOT EXISTS (SELECT 1 FROM certificates c WHERE c.id = NEW.cert_id AND c.subject_erased_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a withdrawal is immutable'); END;
CREATE TRIGGER cease_acknowledgements_sealed BEFORE UPDATE ON cease_acknowledgements
WHEN NEW.cert_id <> OLD.cert_id OR NEW.acknowledged_at <> OLD.acknowledged_at OR NEW.details_sealed <> ''
  OR NOT EXISTS (SELECT 1 FROM certificates c WHERE c.id = NEW.cert_id AND c.subject_erased_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'an acknowledgement is immutable'); END;
