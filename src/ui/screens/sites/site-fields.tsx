import { TextArea, TextField } from "../../parts/fields.tsx"
import type { Sent } from "../../parts/form.tsx"

export interface NameAndHosts {
  name: string
  /** As typed: one to a line, or parted by commas or blanks. */
  hosts: string
}

/** What was typed as hosts, one by one. The server judges each of them. */
export const hostsOf = (text: string): string[] => text.split(/[\s,]+/).filter((host) => host !== "")

interface NameAndHostsFieldsProps extends Pick<Sent, "errorOf"> {
  value: NameAndHosts
  onValue(value: NameAndHosts): void
  autofocus?: boolean
}

/** Name and hosts of a site; faults of hosts name the host they are about. */
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
        note="One to a line, such as example.com. *.example.com means all subdomains. Events from other hosts are refused."
        placeholder="example.com"
        rows={3}
        required
      />
    </>
  )
}
