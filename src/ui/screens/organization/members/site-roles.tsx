import { useId, useState } from "preact/hooks"
import { put, remove } from "../../../api/api.ts"
import { Button, IconButton } from "../../../parts/button.tsx"
import { SelectField } from "../../../parts/form/fields.tsx"
import { Form } from "../../../parts/form/form.tsx"
import { sentenceOf } from "../../../parts/states.tsx"
import { toast } from "../../../parts/toasts.tsx"
import { visible } from "../../../text/safe-text.tsx"
import { type Member, type OwnOrganization, useOwnSites, useRefresh } from "../own-organization.ts"
import { roleLabel } from "./roles.ts"

const SITE_ROLES = ["viewer", "editor", "admin"]

/** Edits the site-specific roles of a member. Each change is saved immediately. */
export function SiteRoles({ organization, member }: { organization: OwnOrganization; member: Member }) {
  const id = useId()
  const sites = useOwnSites(organization.id)
  const refresh = useRefresh(organization.id)
  const [site, setSite] = useState("")
  const [role, setRole] = useState("viewer")
  const chosen = site || String(sites[0]?.id ?? "")
  const pathOf = (siteId: number | string) => `/api/private/sites/${siteId}/members/${member.user.id}`
  const removeRole = async (siteId: number) => {
    try {
      await remove(pathOf(siteId))
      await refresh("members")
    } catch (error) {
      toast(`The role couldn't be removed. ${sentenceOf(error as Error)}`)
    }
  }
  return (
    <section class="stack" aria-labelledby={id}>
      <h3 id={id}>Site-specific roles</h3>
      <p class="small quiet">
        {member.role === "guest" ? "Guests only see the sites in this list." : "A role here replaces the organization role on that site."}
      </p>
      <ul>
        {member.site_roles.map((row) => {
          const name = visible(sites.find((one) => one.id === row.site_id)?.name ?? `Site ${row.site_id}`)
          return (
            <li key={row.site_id} class="row spread">
              <span>
                {name}: {roleLabel(row.role).toLowerCase()}
              </span>
              <IconButton icon="close" label={`Remove the role on ${name}`} onClick={() => void removeRole(row.site_id)} />
            </li>
          )
        })}
      </ul>
      {sites.length > 0 && (
        <Form
          label="Site-specific roles"
          submit={async () => {
            await put(pathOf(chosen), { role })
            await refresh("members")
          }}
        >
          {({ busy, errorOf }) => (
            <div class="joined">
              <SelectField
                label="Site"
                value={chosen}
                onValue={setSite}
                options={sites.map(({ id: siteId, name }) => ({ value: String(siteId), label: visible(name) }))}
              />
              <SelectField
                label="Role on this site"
                value={role}
                onValue={setRole}
                options={SITE_ROLES.map((value) => ({ value, label: roleLabel(value) }))}
                error={errorOf("/role")}
              />
              <Button type="submit" busy={busy}>
                Assign role
              </Button>
            </div>
          )}
        </Form>
      )}
    </section>
  )
}
