import { useQueryClient } from "@tanstack/react-query"
import type { ShareResponse } from "../../../domain/share.ts"
import type { OwnSiteResponse, SiteSettingsResponse } from "../../../domain/site-response.ts"
import { patch } from "../../api/api.ts"
import { canOnSite, useMe } from "../../api/session.ts"
import type { OwnFields } from "../../area/shares/share-form.tsx"
import { ShareList } from "../../area/shares/share-list.tsx"
import { Checkbox } from "../../parts/form/fields.tsx"
import { SectionForm } from "../../parts/form/section-form.tsx"
import { sitePath, useRefreshSite } from "./settings.ts"

/** Manages the views of a site that anyone with their link can see. */
export function Sharing({ site, settings }: { site: OwnSiteResponse; settings: SiteSettingsResponse }) {
  const client = useQueryClient()
  const me = useMe()
  const path = `${sitePath(site.id)}/shares`
  const refreshSite = useRefreshSite(site.id)
  return (
    <>
      <section class="card stack" aria-labelledby="shared-views">
        <ShareList<ShareResponse, Sections>
          siteId={site.id}
          noun="shared view"
          path={path}
          empty="No shared views yet. Shared views let people without an account see this site."
          own={SECTIONS}
          heading={<h2 id="shared-views">Shared views</h2>}
          facts={({ sections, is_public }) => [
            ...(sections.length < Object.keys(LABELS).length - 1 ? [sectionsText(sections)] : []),
            ...(is_public ? ["created by Public site"] : []),
          ]}
          isFixed={({ is_public }) => is_public}
        />
      </section>
      {canOnSite(me, site.id, "site:write") && (
        <SectionForm
          title="Public site"
          shown={settings}
          pick={(shown) => ({ public: shown.public })}
          save={(values, version) => patch(`${sitePath(site.id)}/settings`, { ...values, version })}
          refresh={() => Promise.all([refreshSite(), client.invalidateQueries({ queryKey: ["shares", path] })])}
          words={(values) => [["Public", values.public ? "yes" : "no"]]}
        >
          {({ values, set }) => (
            <Checkbox
              label="Make this site public"
              note="Creates a shared view with a random link, and revokes it when you turn this off."
              checked={values.public}
              onChange={(checked) => set({ public: checked })}
            />
          )}
        </SectionForm>
      )}
    </>
  )
}

const LABELS: Readonly<Record<string, string>> = {
  summary: "Figures and chart",
  sources: "Sources",
  pages: "Pages",
  locations: "Locations",
  devices: "Devices",
  events: "Events",
  goals: "Goals",
  busy_hours: "Busy hours",
  realtime: "Current visitors",
  revenue: "Revenue",
}
const DEFAULT_SECTIONS = Object.keys(LABELS).filter((section) => section !== "revenue")

interface Sections {
  sections: readonly string[]
}

const sectionsText = (sections: readonly string[]): string => sections.map((section) => LABELS[section] ?? section).join(", ")

/** The parts of the site's page that a shared view contains. */
const SECTIONS: OwnFields<Sections> = {
  of: (share) => ({ sections: (share as ShareResponse | undefined)?.sections ?? DEFAULT_SECTIONS }), // the API of these shares
  textOf: ({ sections }) => [["Sections", sectionsText(sections)]],
  fields: ({ sections }, set, errorOf) => (
    <fieldset class="switches">
      <legend>Sections</legend>
      {errorOf("/sections") && <span class="field-error">{errorOf("/sections")}</span>}
      {Object.entries(LABELS).map(([section, label]) => (
        <Checkbox
          key={section}
          label={label}
          checked={sections.includes(section)}
          onChange={(checked) =>
            set({ sections: Object.keys(LABELS).filter((one) => (one === section ? checked : sections.includes(one))) })
          }
        />
      ))}
    </fieldset>
  ),
}
