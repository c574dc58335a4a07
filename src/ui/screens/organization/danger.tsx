import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { remove } from "../../api.ts"
import { exact } from "../../format.ts"
import { useRefreshMe } from "../../me.ts"
import { Answer } from "../../parts/answer.tsx"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { Page } from "../../parts/page.tsx"
import { visible } from "../../safe-text.ts"
import { toast } from "../../toasts.ts"
import { organizationPath, type SectionProps, useOrganization } from "./own-organization.ts"

/** What ends the organization. */
export function Danger({ organization }: SectionProps) {
  const shown = useOrganization(organization.id)
  const [isAsking, setAsking] = useState(false)
  const refreshMe = useRefreshMe()
  const [, navigate] = useLocation()
  return (
    <Page title="Danger">
      <section class="card stack" aria-labelledby="hand-over">
        <h2 id="hand-over">Hand over ownership</h2>
        <p class="quiet">Somebody else becomes owner and you become admin.</p>
        <div class="row">
          <ButtonLink href={`/org/${organization.id}/members`}>Members</ButtonLink>
        </div>
      </section>
      <section class="card stack" aria-labelledby="delete">
        <h2 id="delete">Delete the organization</h2>
        <Answer of={shown} rows={2}>
          {({ name, counts }) => (
            <div class="stack">
              <p>
                With it go {counted(counts.sites, "site")} and all that was recorded of them, {counted(counts.members, "membership")} and{" "}
                {counted(counts.keys, "API key")}. Nothing brings them back but a backup of the instance. Accounts of people stay.
              </p>
              <div class="row">
                <Button kind="danger" onClick={() => setAsking(true)}>
                  Delete {visible(name)}
                </Button>
              </div>
              {isAsking && (
                <Confirm
                  title={`Delete ${visible(name)}`}
                  act={`Delete ${counted(counts.sites, "site")} and the organization`}
                  name={name}
                  onClose={() => setAsking(false)}
                  onConfirm={async () => {
                    await remove(organizationPath(organization.id), { body: { confirm: name } })
                    await refreshMe()
                    navigate("/sites")
                    toast(`${visible(name)} is gone; its data is being removed`)
                  }}
                >
                  <p>Collecting stops at once. The data is removed in the background.</p>
                </Confirm>
              )}
            </div>
          )}
        </Answer>
      </section>
    </Page>
  )
}

const counted = (count: number, thing: string): string => `${exact(count)} ${thing}${count === 1 ? "" : "s"}`
