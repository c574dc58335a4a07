import { useState } from "preact/hooks"
import { Button, Checkbox, Form, put, QueryResult, SelectField, TextField, toast } from "#plugin/ui"
import type { PlanResponse } from "../../operation-responses.ts"
import { ADMIN, useAdmin, useRefresh } from "../queries.ts"

type Bucket = NonNullable<PlanResponse["s3"]>

/** Form for the backup schedule, the number of backups to keep and the copies in a bucket. */
export function BackupPlanForm() {
  const plan = useAdmin<PlanResponse>("backups/schedule")
  return (
    <QueryResult of={plan} rows={4}>
      {(shown) => <PlanFields key={JSON.stringify(shown)} plan={shown} />}
    </QueryResult>
  )
}

const NO_BUCKET: Bucket = { endpoint: "", bucket: "", prefix: "", region: "us-east-1", key_id: "", secret: { set: false } }

function PlanFields({ plan }: { plan: PlanResponse }) {
  const [isOn, setOn] = useState(plan.cron !== null)
  const [cron, setCron] = useState(plan.cron ?? "0 3 * * *")
  const [daily, setDaily] = useState(String(plan.keep.daily))
  const [weekly, setWeekly] = useState(String(plan.keep.weekly))
  const [target, setTarget] = useState<string>(plan.target)
  const [bucket, setBucket] = useState(plan.s3 ?? NO_BUCKET)
  const [secret, setSecret] = useState("")
  const refresh = useRefresh()
  const isElsewhere = plan.source === "env" || plan.source === "file"
  if (isElsewhere)
    return (
      <p>
        {isOn ? `Schedule: ${cron} (UTC)` : "Automatic backups are off"}. Keeps {daily} daily and {weekly} weekly backups. Set{" "}
        {plan.source === "env" ? "in the environment" : "in the configuration file"} by <code>backup_time</code> and the other settings that
        start with <code>backup_</code>; change them there.
      </p>
    )
  return (
    <Form
      submit={async () => {
        const { secret: stored, ...place } = bucket
        await put(`${ADMIN}/backups/schedule`, {
          cron: isOn ? cron.trim() : null,
          keep: { daily: Number(daily), weekly: Number(weekly) },
          target,
          ...(target === "s3" && { s3: { ...place, ...(secret !== "" ? { secret } : stored.set && { secret: stored }) } }),
        })
        await refresh("backups")
        toast("Backup settings saved")
      }}
    >
      {({ busy, errorOf }) => (
        <>
          <Checkbox label="Back up automatically" checked={isOn} onChange={setOn} />
          {isOn && (
            <TextField
              label="Schedule (cron)"
              value={cron}
              onValue={setCron}
              error={errorOf("/cron")}
              note="Minute, hour, day of month, month, day of week, in UTC."
              code
            />
          )}
          <TextField label="Daily backups to keep" type="number" min={1} value={daily} onValue={setDaily} error={errorOf("/keep/daily")} />
          <TextField
            label="Weekly backups to keep"
            type="number"
            min={0}
            value={weekly}
            onValue={setWeekly}
            error={errorOf("/keep/weekly")}
          />
          <SelectField
            label="Destination"
            value={target}
            options={[
              { value: "local", label: "Data folder only" },
              { value: "s3", label: "Data folder and S3 bucket" },
            ]}
            onValue={setTarget}
            error={errorOf("/target")}
          />
          {target === "s3" && <BucketFields bucket={bucket} onBucket={setBucket} secret={secret} onSecret={setSecret} errorOf={errorOf} />}
          <div class="row">
            <Button type="submit" busy={busy}>
              Save changes
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}

interface BucketFieldsProps {
  bucket: Bucket
  onBucket(bucket: Bucket): void
  secret: string
  onSecret(secret: string): void
  errorOf(pointer: string): string | undefined
}

const PLACE = [
  { name: "endpoint", label: "Endpoint", note: "https://s3.example.com" },
  { name: "bucket", label: "Bucket" },
  { name: "prefix", label: "Object name prefix" },
  { name: "region", label: "Region" },
  { name: "key_id", label: "Access key" },
] as const

const BucketFields = ({ bucket, onBucket, secret, onSecret, errorOf }: BucketFieldsProps) => (
  <fieldset class="form">
    <legend>Bucket</legend>
    {PLACE.map(({ name, label, ...more }) => (
      <TextField
        key={name}
        label={label}
        value={bucket[name]}
        onValue={(value) => onBucket({ ...bucket, [name]: value })}
        error={errorOf(`/s3/${name}`)}
        autocomplete="off"
        {...more}
      />
    ))}
    <TextField
      label="Secret key"
      type="password"
      autocomplete="new-password"
      value={secret}
      onValue={onSecret}
      error={errorOf("/s3/secret")}
      note={bucket.secret.set ? "A secret is stored. Leave empty to keep it." : "Encrypted before it is stored."}
    />
  </fieldset>
)
