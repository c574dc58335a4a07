import { useEffect, useRef } from "preact/hooks"
import { Link, useParams } from "wouter"
import type { SITE_SETTINGS } from "../../../domain/dashboard-path.ts"
import type { OwnSiteResponse, SiteSettingsResponse } from "../../../domain/site-response.ts"
import { canInOrganization, canOnSite, useMe, useSite } from "../../api/session.ts"
import { useSiteId } from "../../browser/address.ts"
import { ButtonLink } from "../../parts/button.tsx"
import { Forbidden } from "../../parts/forbidden.tsx"
import { UnsavedGuard } from "../../parts/form/unsaved.tsx"
import { Card, Page } from "../../parts/page.tsx"
import { ErrorState, Skeleton } from "../../parts/states.tsx"
import { Access } from "./access.tsx"
import { Danger } from "./danger.tsx"
import { General } from "./general.tsx"
import { Privacy } from "./privacy.tsx"
import { useSettings } from "./settings.ts"
import { Sharing } from "./sharing.tsx"
import { Shields } from "./shields.tsx"
import { Tracking } from "./tracking.tsx"

type SectionId = (typeof SITE_SETTINGS)[number]
const SECTIONS: readonly { id: SectionId; label: string; permission: string }[] = [
  { id: "general", label: "General", permission: "site:write" },
  { id: "tracking", label: "Tracking", permission: "site:write" },
  { id: "goals", label: "Goals and properties", permission: "site:write" },
  { id: "shields", label: "Filters and shields", permission: "site:write" },
  { id: "privacy", label: "Privacy and retention", permission: "site:write" },
  { id: "sharing", label: "Sharing", permission: "dashboards:share" },
  { id: "access", label: "Access", permission: "members:read" },
  { id: "danger", label: "Danger zone", permission: "site:delete" },
]

/** Renders the settings of a site. Sections that the user may not change are hidden. */
export default function SiteSettings() {
  const siteId = useSiteId()
  const { section = "general" } = useParams<{ section?: string }>()
  const open = useOpenSections(siteId)
  const tabs = useRef<HTMLElement>(null)
  useEffect(() => {
    const tab = tabs.current?.querySelector("[aria-current]")
    if (tab) centre(tab, tabs.current!)
  }, [section])
  const chosen = open.find(({ id }) => id === section)
  if (!chosen) return <Forbidden permission="change the settings of this site" />
  return (
    <Page title="Site settings">
      <nav class="tabs section-tabs" ref={tabs} aria-label="Settings">
        {open.map(({ id, label }) => (
          <Link key={id} href={`/sites/${siteId}/settings/${id}`} class="tab" aria-current={id === section ? "page" : undefined}>
            {label}
          </Link>
        ))}
      </nav>
      <SettingsSection key={`${siteId} ${chosen.id}`} siteId={siteId} section={chosen.id} />
      <UnsavedGuard />
    </Page>
  )
}

/** Scrolls a row of tabs to one of them. `scrollIntoView` would also make the Tab key start behind that tab instead of at the top. */
function centre(tab: Element, row: HTMLElement): void {
  const [inner, outer] = [tab.getBoundingClientRect(), row.getBoundingClientRect()]
  row.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2
}

/** Returns the sections that the user may open. Access is open to those who see the organization's members and to admins of the site. */
function useOpenSections(siteId: number) {
  const me = useMe()
  const site = me?.sites.find(({ id }) => id === siteId)
  const managesMembers = site !== undefined && (canInOrganization(me, site.organization_id, "members:read") || site.role === "admin")
  return SECTIONS.filter(({ id, permission }) => (id === "access" ? managesMembers : canOnSite(me, siteId, permission)))
}

function SettingsSection({ siteId, section }: { siteId: number; section: SectionId }) {
  const site = useSite(siteId)
  const settings = useSettings(siteId)
  const error = site.error ?? settings.error
  if (site.data && settings.data) return <Section site={site.data as OwnSiteResponse} settings={settings.data} section={section} /> // the whole response
  if (error)
    return (
      <ErrorState
        error={error}
        onRetry={() => {
          void site.refetch()
          void settings.refetch()
        }}
      />
    )
  return <Skeleton rows={6} />
}

function Section({ site, settings, section }: { site: OwnSiteResponse; settings: SiteSettingsResponse; section: SectionId }) {
  switch (section) {
    case "general":
      return <General site={site} settings={settings} />
    case "tracking":
      return <Tracking siteId={site.id} settings={settings} />
    case "goals":
      return <GoalsAndProperties siteId={site.id} />
    case "shields":
      return <Shields site={site} />
    case "privacy":
      return <Privacy siteId={site.id} settings={settings} />
    case "sharing":
      return <Sharing site={site} settings={settings} />
    case "access":
      return <Access site={site} />
    case "danger":
      return <Danger site={site} />
  }
}

/** Links to the pages of goals, funnels and properties. */
const GoalsAndProperties = ({ siteId }: { siteId: number }) => (
  <>
    <Card title="Goals">
      <div class="stack">
        <p class="quiet">
          Goals count the visits that matter, such as sign-ups: by event, page or scroll depth. Goals apply to past data, too.
        </p>
        <p>
          <ButtonLink href={`/sites/${siteId}/goals`}>Manage goals</ButtonLink>
        </p>
      </div>
    </Card>
    <Card title="Funnels">
      <div class="stack">
        <p class="quiet">Funnels show where people drop off on the way to a goal.</p>
        <p>
          <ButtonLink href={`/sites/${siteId}/funnels`}>Manage funnels</ButtonLink>
        </p>
      </div>
    </Card>
    <Card title="Properties">
      <div class="stack">
        <p class="quiet">Properties need no setup. Every property sent with an event is listed with that event.</p>
        <p>
          <ButtonLink href={`/sites/${siteId}/events`}>View events</ButtonLink>
        </p>
      </div>
    </Card>
  </>
)
