import { SelectField } from "./fields.tsx"

interface ZoneFieldProps {
  label?: string
  value: string
  onValue(value: string): void
  note?: string
  error?: string | undefined
}

/** The zone that the browser is in. */
export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** A time zone of the IANA's list; one that this browser does not know stays chosen. */
export function ZoneField({ label = "Time zone", value, ...others }: ZoneFieldProps) {
  const zones = [...new Set([...Intl.supportedValuesOf("timeZone"), "UTC", value])].sort()
  return (
    <SelectField
      label={label}
      value={value}
      options={zones.map((zone) => ({ value: zone, label: zone.replaceAll("_", " ") }))}
      {...others}
    />
  )
}
