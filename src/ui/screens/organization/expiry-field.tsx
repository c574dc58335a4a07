import type { OrganizationPolicy } from "../../../domain/organization.ts"
import { dayText } from "../../format.ts"
import { SelectField, TextField } from "../../parts/fields.tsx"
import type { Expiry } from "./key-draft.ts"

interface ExpiryFieldProps {
  value: Expiry
  /** When it ends now; undefined of a new key. */
  present: string | null | undefined
  policy: OrganizationPolicy | undefined
  onValue(value: Expiry): void
  error: string | undefined
}

const NAMED = ["usual", "keep", "never"]
const DAY_MS = 86_400_000
/** Today and a number of days, as `YYYY-MM-DD`. */
const dayIn = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)

/** How long a key works. */
export function ExpiryField({ value, present, policy, onValue, error }: ExpiryFieldProps) {
  const isDay = !NAMED.includes(value)
  const usual = policy
    ? ` (${policy.key_max_days === null ? policy.key_default_days : Math.min(policy.key_default_days, policy.key_max_days)} days)`
    : ""
  return (
    <>
      <SelectField
        label="Works until"
        value={isDay ? "day" : value}
        onValue={(chosen) => onValue(chosen === "day" ? dayIn(90) : chosen)}
        options={[
          present === undefined
            ? { value: "usual", label: `As the organization has it${usual}` }
            : { value: "keep", label: present === null ? "Without end, as now" : `${dayText(present)}, as now` },
          { value: "day", label: "A day of your choice" },
          ...(policy?.key_max_days === null && present !== null ? [{ value: "never", label: "Without end" }] : []),
        ]}
        error={isDay ? undefined : error}
        note={policy?.key_max_days ? `The organization lets keys work for ${policy.key_max_days} days at most.` : undefined}
      />
      {isDay && <TextField label="Last day" type="date" min={dayIn(0)} value={value} onValue={onValue} error={error} />}
    </>
  )
}
