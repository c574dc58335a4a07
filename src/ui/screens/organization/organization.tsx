import { Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { Redirect, useParams } from "wouter"
import { lazyPart } from "../../lazy-screen.ts"
import { useMe } from "../../me.ts"
import { Button } from "../../parts/button.tsx"
import { Icon } from "../../parts/icon.tsx"
import { MenuItem, Popover } from "../../parts/menu.tsx"
import { Page } from "../../parts/page.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { UnsavedGuard } from "../../parts/unsaved.tsx"
import { visible } from "../../safe-text.ts"
import { PlainShell } from "../../shell/plain-shell.tsx"
import { SectionsShell } from "../../shell/sections-shell.tsx"
import { Forbidden, NotFound } from "../../shell/system-pages.tsx"
import type { OwnOrganization } from "./own-organization.ts"
import { GROUPS, openSections, SECTIONS } from "./sections.ts"

const NewOrganization = lazyPart(() => import("./new-organization.tsx"))

/** An organization, one section at a time. Without one in the address it is the first of the person. */
export default function Organization() {
  const params = useParams<{ organization?: string; section?: string }>()
  const me = useMe()
  const own = me?.organizations ?? []
  if (!me) return <NotFound />
  if (params.organization === undefined) return own[0] ? <ToFirstSection organization={own[0]} /> : <NoOrganization />
  const organization = own.find(({ id }) => String(id) === params.organization)
  if (!organization) return <NotFound />
  const open = openSections(organization)
  if (params.section === undefined) return <ToFirstSection organization={organization} />
  const wanted = SECTIONS.find(({ id }) => id === params.section)
  if (!wanted) return <NotFound />
  const groups = GROUPS.map((title) => ({
    title,
    entries: open
      .filter(({ group }) => group === title)
      .map(({ id, label, icon }) => ({ label, icon, href: `/org/${organization.id}/${id}`, isCurrent: id === wanted.id })),
  }))
  return (
    <SectionsShell label="Organization" groups={groups} bar={<OrganizationSwitcher organization={organization} own={own} />}>
      {open.includes(wanted) ? (
        <>
          <wanted.Content key={`${organization.id} ${wanted.id}`} organization={organization} me={me} />
          <UnsavedGuard />
        </>
      ) : (
        <Forbidden permission={wanted.permission?.words ?? ""} giver="An owner of the organization" />
      )}
    </SectionsShell>
  )
}

const ToFirstSection = ({ organization }: { organization: OwnOrganization }) => (
  <Redirect to={`/org/${organization.id}/${openSections(organization)[0]?.id}`} replace />
)

/** The organization's name, and the way to others. */
function OrganizationSwitcher({ organization, own }: { organization: OwnOrganization; own: readonly OwnOrganization[] }) {
  const me = useMe()
  const [isNew, setNew] = useState(false)
  const name = visible(organization.name)
  const makes = me?.makes_organizations ?? false
  if (own.length === 1 && !makes) return <strong class="site-name">{name}</strong>
  return (
    <>
      <Popover
        kind="quiet"
        label={`Organization: ${name}`}
        button={
          <>
            <strong class="site-name">{name}</strong>
            <Icon name="down" />
          </>
        }
      >
        {(close) => (
          <>
            {own.map(({ id, name: other }) => (
              <MenuItem key={id} href={`/org/${id}`}>
                {visible(other)}
              </MenuItem>
            ))}
            {makes && (
              <>
                <hr class="menu-line" />
                <MenuItem
                  onSelect={() => {
                    close()
                    setNew(true)
                  }}
                >
                  New organization
                </MenuItem>
              </>
            )}
          </>
        )}
      </Popover>
      {isNew && (
        <Suspense fallback={<div class="progress-line" />}>
          <NewOrganization onClose={() => setNew(false)} />
        </Suspense>
      )}
    </>
  )
}

function NoOrganization() {
  const makes = useMe()?.makes_organizations ?? false
  const [isNew, setNew] = useState(false)
  return (
    <PlainShell>
      <Page title="Organization">
        <EmptyState action={makes && <Button onClick={() => setNew(true)}>Make an organization</Button>}>
          You belong to no organization. Somebody who does can invite you{makes ? ", or you make one of your own" : ""}.
        </EmptyState>
      </Page>
      {isNew && (
        <Suspense fallback={<div class="progress-line" />}>
          <NewOrganization onClose={() => setNew(false)} />
        </Suspense>
      )}
    </PlainShell>
  )
}
