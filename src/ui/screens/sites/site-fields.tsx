import { hostFromInput } from "../../../domain/host.ts"
import { TextArea, TextField } from "../../parts/form/fields.tsx"
import type { Sent } from "../../parts/form/form.tsx"

interface NameAndHosts {
  name: string
  /** As typed: separated by line breaks, commas or spaces. */
  hosts: string
}

/** Returns the typed or pasted hosts. A URL is reduced to its host. The server validates each of them. */
export const hostsOf = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .filter((host) => host !== "")
    .map(hostFromInput)

interface NameAndHostsFieldsProps extends Pick<Sent, "errorOf"> {
  value: NameAndHosts
  onValue(value: NameAndHosts): void
  autofocus?: boolean
}

/** Renders the name and hosts fields of a site. Errors name the host they are about. */
export function NameAndHostsFields({ value, onValue, errorOf, autofocus = false }: NameAndHostsFieldsProps) {
  const wrong = hostsOf(value.hosts).flatMap((host, index) => {
    const fault = errorOf(`/hosts/${index}`)
    return fault ? [`${host}: ${fault}`] : []
  })
  return (
    <>
      <TextField
        label="Name"
        value={value.name}
        onValue={(name) => onValue({ ...value, name })}
        error={errorOf("/name")}
        autofocus={autofocus}
        autocomplete="off"
        required
      />
      <TextArea
        label="Hosts"
        value={value.hosts}
        onValue={(hosts) => onValue({ ...value, hosts })}
        error={errorOf("/hosts") ?? (wrong.length > 0 ? wrong.join(" ") : undefined)}
        note="One per line, e.g. example.com. Use *.example.com to include subdomains. Events from other hosts are rejected."
        placeholder="example.com"
        rows={3}
        required
      />
    </>
  )
}
