import { useQueryClient } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { useLocation, useSearch } from "wouter"
import type { SiteResponse } from "../../../domain/site-response.ts"
import { post } from "../../api/api.ts"
import { canInOrganization, canOnSite, useMe, useRefreshMe } from "../../api/session.ts"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { Forbidden } from "../../parts/forbidden.tsx"
import { SelectField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { browserCurrency, browserZone, CurrencyField, ZoneField } from "../../parts/form/locale-fields.tsx"
import { Page } from "../../parts/page.tsx"
import { PlainShell } from "../../shell/sections-shell.tsx"
import { visible } from "../../text/safe-text.tsx"
import { LiveCheck } from "./live-check.tsx"
import { hostsOf, NameAndHostsFields } from "./site-fields.tsx"

/** Asks for the site's details, then shows its snippet and the installation check. The URL names the new site, so that a reload stays there. */
export default function AddSite() {
  const me = useMe()
  const newSiteId = Number(new URLSearchParams(useSearch()).get("site"))
  const organizations = me?.organizations.filter(({ id }) => canInOrganization(me, id, "site:create")) ?? []
  if (canOnSite(me, newSiteId, "site:read")) {
    const name = visible(me?.sites.find(({ id }) => id === newSiteId)?.name ?? "")
    return (
      <PlainShell>
        <Page title={`Install Footfall on ${name}`} actions={<ButtonLink href={`/sites/${newSiteId}`}>Go to dashboard</ButtonLink>}>
          <LiveCheck siteId={newSiteId} />
        </Page>
      </PlainShell>
    )
  }
  if (organizations.length === 0)
    return (
      <PlainShell>
        <Forbidden permission="add sites" />
      </PlainShell>
    )
  return (
    <PlainShell>
      <Page title="Add site">
        <div class="bands">
          <section class="card" aria-label="Details of the site">
            <SiteForm organizations={organizations} />
          </section>
          <section class="card stack" aria-labelledby="next-steps">
            <h2 id="next-steps">What happens next</h2>
            <ol class="check-list">
              {NEXT_STEPS.map(({ title, text }, index) => (
                <li key={title}>
                  <span class="check-mark quiet" aria-hidden="true">
                    {index + 1}
                  </span>
                  <strong>{title}</strong>
                  <p class="quiet">{text}</p>
                </li>
              ))}
            </ol>
            <p class="small quiet">You can change all of this later in the site's settings.</p>
          </section>
        </div>
      </Page>
    </PlainShell>
  )
}

const NEXT_STEPS = [
  {
    title: "Add the snippet",
    text: "One line of HTML on every page of your site. It sets no cookie. There are also ways for tag managers, WordPress, npm and servers.",
  },
  {
    title: "Open a page of your site",
    text: "Footfall shows the first event within seconds. If none arrives, it says why and what to do.",
  },
  { title: "Read the figures", text: "Reports include every event from the first one on. Imports add the history from other products." },
]

function SiteForm({ organizations }: { organizations: readonly { id: number; name: string }[] }) {
  const [site, setSite] = useState({ name: "", hosts: "" })
  const [timezone, setTimezone] = useState(browserZone)
  const [currency, setCurrency] = useState(() => browserCurrency() ?? "EUR")
  const [organization, setOrganization] = useState(String(organizations[0]!.id))
  const refreshMe = useRefreshMe()
  const client = useQueryClient()
  const [, navigate] = useLocation()
  const create = async () => {
    const body = { name: site.name, hosts: hostsOf(site.hosts), timezone, revenue_currency: currency }
    const { id } = await post<SiteResponse>(`/api/private/organizations/${organization}/sites`, body)
    await refreshMe()
    void client.invalidateQueries({ queryKey: ["sites"] })
    navigate(`/sites/new?site=${id}`, { replace: true })
  }
  return (
    <Form submit={create} label="Add site">
      {({ busy, errorOf }) => (
        <>
          <NameAndHostsFields value={site} onValue={setSite} errorOf={errorOf} autofocus />
          <ZoneField value={timezone} onValue={setTimezone} error={errorOf("/timezone")} />
          <CurrencyField value={currency} onValue={setCurrency} error={errorOf("/revenue_currency")} />
          {organizations.length > 1 && (
            <SelectField
              label="Organization"
              value={organization}
              onValue={setOrganization}
              options={organizations.map(({ id, name }) => ({ value: String(id), label: visible(name) }))}
            />
          )}
          <div>
            <Button kind="primary" type="submit" busy={busy}>
              Add site
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
