import type { OrganizationPolicy } from "../../../../domain/organization.ts"
import { SelectField, TextField } from "../../../parts/form/fields.tsx"
import { dayText } from "../../../text/format.ts"
import type { Expiry } from "./key-draft.ts"

interface ExpiryFieldProps {
  value: Expiry
  /** Current expiry. Undefined for a new key. */
  current: string | null | undefined
  policy: OrganizationPolicy | undefined
  onValue(value: Expiry): void
  error: string | undefined
}

const NAMED = ["usual", "keep", "never"]
const DAY_MS = 86_400_000
/** Returns the date in a number of days, as `YYYY-MM-DD`. */
const dayIn = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)

/** Renders the choice of a key's expiry. */
export function ExpiryField({ value, current, policy, onValue, error }: ExpiryFieldProps) {
  const isDay = !NAMED.includes(value)
  const usual = policy
    ? ` (${policy.key_max_days === null ? policy.key_default_days : Math.min(policy.key_default_days, policy.key_max_days)} days)`
    : ""
  return (
    <>
      <SelectField
        label="Expires"
        value={isDay ? "day" : value}
        onValue={(chosen) => onValue(chosen === "day" ? dayIn(90) : chosen)}
        options={[
          current === undefined
            ? { value: "usual", label: `Organization default${usual}` }
            : { value: "keep", label: current === null ? "Never (unchanged)" : `${dayText(current)} (unchanged)` },
          { value: "day", label: "On a date" },
          ...(policy?.key_max_days === null && current !== null ? [{ value: "never", label: "Never" }] : []),
        ]}
        error={isDay ? undefined : error}
        note={policy?.key_max_days ? `Your organization limits keys to ${policy.key_max_days} days.` : undefined}
      />
      {isDay && <TextField label="Last valid day" type="date" min={dayIn(0)} value={value} onValue={onValue} error={error} />}
    </>
  )
}
