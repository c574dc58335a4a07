import { Button, IconButton } from "../../parts/button.tsx"
import { SelectField, TextField } from "../../parts/fields.tsx"
import type { OwnSite } from "./own-organization.ts"
import type { MappedGroup } from "./provider-draft.ts"
import { roleLabel, rolesBelow } from "./roles.ts"
import { SiteChoices } from "./site-choices.tsx"

interface GroupRolesProps {
  groups: readonly MappedGroup[]
  sites: readonly OwnSite[]
  /** Of the person: nobody maps to a role above their own. */
  ownRole: string
  onGroups(groups: readonly MappedGroup[]): void
}

/** Which role the groups of the provider give. */
export function GroupRoles({ groups, sites, ownRole, onGroups }: GroupRolesProps) {
  const roles = rolesBelow(ownRole).filter((role) => role !== "owner")
  const change = (index: number, changes: Partial<MappedGroup>) =>
    onGroups(groups.map((one, at) => (at === index ? { ...one, ...changes } : one)))
  return (
    <fieldset class="stack">
      <legend>Roles by group</legend>
      <p class="field-note">A group of the claim “groups” gives a role; * is everybody who comes. Without an entry nobody gets in anew.</p>
      {groups.map(({ group, role, siteIds }, index) => (
        // The row is what it is by its place: names change while they are typed.
        <div key={index} class="stack">
          <div class="joined">
            <TextField label="Group" value={group} onValue={(name) => change(index, { group: name })} autocomplete="off" />
            <SelectField
              label="Role"
              value={role}
              onValue={(chosen) => change(index, { role: chosen })}
              options={roles.map((value) => ({ value, label: roleLabel(value) }))}
            />
            <IconButton
              icon="close"
              label={`Take the group ${group} away`}
              onClick={() => onGroups(groups.filter((_, at) => at !== index))}
            />
          </div>
          {role === "guest" && (
            <SiteChoices
              legend={`Sites for ${group || "the group"}`}
              sites={sites}
              chosen={siteIds}
              onChosen={(chosen) => change(index, { siteIds: chosen })}
              emptyNote="Choose at least one: a guest sees no others."
            />
          )}
        </div>
      ))}
      <div class="row">
        <Button icon="plus" onClick={() => onGroups([...groups, { group: "", role: "viewer", siteIds: [] }])}>
          Add a group
        </Button>
      </div>
    </fieldset>
  )
}
