-- The claims of a job's earlier runs: what they have paid for is kept until the job has ended.
ALTER TABLE jobs ADD COLUMN former TEXT;

CREATE INDEX jobs_claimed ON jobs (claim)
  WHERE claim IS NOT NULL AND state IN ('ready', 'later', 'parked', 'running');
