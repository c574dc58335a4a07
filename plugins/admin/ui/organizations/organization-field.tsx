import { useQuery } from "@tanstack/react-query"
import { getAll, SelectField } from "#plugin/ui"
import type { Organization } from "../answers.ts"
import { ADMIN } from "../queries.ts"

/** Fetches all organizations of the instance. */
const useOrganizations = () =>
  useQuery({
    queryKey: ["admin", "organizations", "all"],
    queryFn: ({ signal }) => getAll<Organization>(`${ADMIN}/organizations?`, signal),
  })

interface OrganizationFieldProps {
  label?: string
  value: number | undefined
  onValue(id: number | undefined): void
  error?: string | undefined
  /** Label of the empty choice. */
  none?: string
}

/** Select field for one organization or none. */
export function OrganizationField({ label = "Organization", value, onValue, error, none = "None yet" }: OrganizationFieldProps) {
  const { data = [] } = useOrganizations()
  return (
    <SelectField
      label={label}
      value={value === undefined ? "" : String(value)}
      options={[{ value: "", label: none }, ...data.map(({ id, name }) => ({ value: String(id), label: name }))]}
      onValue={(id) => onValue(id === "" ? undefined : Number(id))}
      error={error}
    />
  )
}
