import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { remove } from "../../api/api.ts"
import { useRefreshMe } from "../../api/session.ts"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { Page } from "../../parts/page.tsx"
import { QueryResult } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { counted } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { organizationPath, type SectionProps, useOrganization } from "./own-organization.ts"

/** Renders the transfer of ownership and the deletion of the organization. */
export function Danger({ organization }: SectionProps) {
  const shown = useOrganization(organization.id)
  const [isAsking, setAsking] = useState(false)
  const refreshMe = useRefreshMe()
  const [, navigate] = useLocation()
  return (
    <Page title="Danger zone">
      <section class="card stack" aria-labelledby="transfer-ownership">
        <h2 id="transfer-ownership">Transfer ownership</h2>
        <p class="quiet">Another member becomes the owner and you become an admin.</p>
        <div class="row">
          <ButtonLink href={`/org/${organization.id}/members`}>Go to members</ButtonLink>
        </div>
      </section>
      <section class="card stack" aria-labelledby="delete">
        <h2 id="delete">Delete organization</h2>
        <QueryResult of={shown} rows={2}>
          {({ name, counts }) => (
            <div class="stack">
              <p>
                Deletes {counted(counts.sites, "site")} with all recorded data, {counted(counts.members, "membership")} and{" "}
                {counted(counts.keys, "API key")}. User accounts are kept. This can't be undone, except from a backup of the instance.
              </p>
              <div class="row">
                <Button kind="danger" onClick={() => setAsking(true)}>
                  Delete {visible(name)}
                </Button>
              </div>
              {isAsking && (
                <Confirm
                  title={`Delete ${visible(name)}?`}
                  act={`Delete organization and ${counted(counts.sites, "site")}`}
                  name={name}
                  onClose={() => setAsking(false)}
                  onConfirm={async () => {
                    await remove(organizationPath(organization.id), { body: { confirm: name } })
                    await refreshMe()
                    navigate("/sites")
                    toast(`${visible(name)} deleted. Its data is being removed.`)
                  }}
                >
                  <p>Tracking stops immediately. The data is removed in the background.</p>
                </Confirm>
              )}
            </div>
          )}
        </QueryResult>
      </section>
    </Page>
  )
}
