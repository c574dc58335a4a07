import { Button, IconButton } from "../../../parts/button.tsx"
import { SelectField, TextField } from "../../../parts/form/fields.tsx"
import { roleLabel, rolesBelow } from "../members/roles.ts"
import type { OwnSite } from "../own-organization.ts"
import { SiteChoices } from "../site-choices.tsx"
import type { MappedGroup } from "./provider-draft.ts"

interface GroupRolesProps {
  groups: readonly MappedGroup[]
  sites: readonly OwnSite[]
  /** Role of the user, who can't map a group to a higher role. */
  ownRole: string
  onGroups(groups: readonly MappedGroup[]): void
}

/** Maps the provider's groups to roles. */
export function GroupRoles({ groups, sites, ownRole, onGroups }: GroupRolesProps) {
  const roles = rolesBelow(ownRole).filter((role) => role !== "owner")
  const change = (index: number, changes: Partial<MappedGroup>) =>
    onGroups(groups.map((one, at) => (at === index ? { ...one, ...changes } : one)))
  return (
    <fieldset class="stack">
      <legend>Roles by group</legend>
      <p class="field-note">
        Each group in the “groups” claim gives a role; * matches everyone. Without an entry, no new members can join.
      </p>
      {groups.map(({ group, role, siteIds }, index) => (
        // Keyed by position, because names change during typing.
        <div key={index} class="stack">
          <div class="joined">
            <TextField label="Group" value={group} onValue={(name) => change(index, { group: name })} autocomplete="off" />
            <SelectField
              label="Role"
              value={role}
              onValue={(chosen) => change(index, { role: chosen })}
              options={roles.map((value) => ({ value, label: roleLabel(value) }))}
            />
            <IconButton icon="close" label={`Remove the group ${group}`} onClick={() => onGroups(groups.filter((_, at) => at !== index))} />
          </div>
          {role === "guest" && (
            <SiteChoices
              legend={`Sites for ${group || "this group"}`}
              sites={sites}
              chosen={siteIds}
              onChosen={(chosen) => change(index, { siteIds: chosen })}
              emptyNote="Choose at least one site. Guests only see the sites you choose."
            />
          )}
        </div>
      ))}
      <div class="row">
        <Button icon="plus" onClick={() => onGroups([...groups, { group: "", role: "viewer", siteIds: [] }])}>
          Add group
        </Button>
      </div>
    </fieldset>
  )
}
