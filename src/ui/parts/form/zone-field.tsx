import { SelectField } from "./fields.tsx"

interface ZoneFieldProps {
  label?: string
  value: string
  onValue(value: string): void
  note?: string
  error?: string | undefined
}

/** Returns the browser's time zone. */
export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** Select field for an IANA time zone. A zone that the browser does not know stays selectable. */
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
