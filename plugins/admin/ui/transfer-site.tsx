import { useState } from "preact/hooks"
import { Button, Dialog, Form, post } from "#plugin/ui"
import type { Named, Site } from "./answers.ts"
import { useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"
import { OrganizationField } from "./organization-field.tsx"

interface Moved {
  detached: { api_keys: Named[]; site_members: { user_id: number; email: string; role: string }[] }
}

/** Moves a site, and then says what no longer fits it. */
export function TransferSite({ site, onClose }: { site: Site; onClose(): void }) {
  const [organization, setOrganization] = useState<number>()
  const [moved, setMoved] = useState<Moved>()
  const refresh = useRefresh()
  if (moved) return <MovedShown site={site} moved={moved} onClose={onClose} />
  return (
    <Dialog title={`Move ${site.name}`} onClose={onClose} small>
      <Form
        submit={async () => {
          const answer = await post<Moved>(`${ADMIN}/sites/${site.id}/transfer`, { organization_id: organization })
          await refresh("sites", "organizations")
          setMoved(answer)
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <p>Its data goes along. Keys and members that belong to {site.organization.name} no longer reach it.</p>
            <OrganizationField
              label="To which organization"
              none="Choose"
              value={organization}
              onValue={setOrganization}
              error={errorOf("/organization_id")}
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button
                kind="confirm"
                type="submit"
                busy={busy}
                disabled={organization === undefined || organization === site.organization.id}
              >
                Move site
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

const MovedShown = ({ site, moved: { detached }, onClose }: { site: Site; moved: Moved; onClose(): void }) => (
  <Dialog title={`${site.name} is moved`} onClose={onClose} small>
    <div class="stack">
      <p>
        {detached.api_keys.length + detached.site_members.length === 0 ? "No key and no member was cut off." : "These no longer reach it:"}
      </p>
      <ul>
        {detached.api_keys.map(({ id, name }) => (
          <li key={id}>API key {name}</li>
        ))}
        {detached.site_members.map(({ user_id, email, role }) => (
          <li key={user_id}>
            {email}, {role}
          </li>
        ))}
      </ul>
      <div class="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  </Dialog>
)
