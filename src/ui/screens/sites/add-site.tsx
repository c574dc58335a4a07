import { useQueryClient } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { useLocation, useSearch } from "wouter"
import { post } from "../../api.ts"
import { canInOrganization, canOnSite, useMe, useRefreshMe } from "../../me.ts"
import { browserCurrency } from "../../parts/browser-currency.ts"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { CurrencyField } from "../../parts/currency-field.tsx"
import { SelectField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { Page } from "../../parts/page.tsx"
import { browserZone, ZoneField } from "../../parts/zone-field.tsx"
import { visible } from "../../safe-text.ts"
import { PlainShell } from "../../shell/plain-shell.tsx"
import { Forbidden } from "../../shell/system-pages.tsx"
import LiveCheck from "./live-check.tsx"
import { hostsOf, NameAndHostsFields } from "./site-fields.tsx"

/** First what the site is, then its snippet and the live check; the address keeps the site, so that a reload stays there. */
export default function AddSite() {
  const me = useMe()
  const made = Number(new URLSearchParams(useSearch()).get("site"))
  const organizations = me?.organizations.filter(({ id }) => canInOrganization(me, id, "site:create")) ?? []
  if (canOnSite(me, made, "site:read")) {
    const name = visible(me?.sites.find(({ id }) => id === made)?.name ?? "")
    return (
      <PlainShell>
        <Page title={`Connect ${name}`} actions={<ButtonLink href={`/sites/${made}`}>Go to the dashboard</ButtonLink>}>
          <LiveCheck siteId={made} />
        </Page>
      </PlainShell>
    )
  }
  if (organizations.length === 0) return <Forbidden permission="add sites" giver="An owner or admin of the organization" />
  return (
    <PlainShell>
      <Page title="Add a site">
        <SiteForm organizations={organizations} />
      </Page>
    </PlainShell>
  )
}

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
    const { id } = await post<{ id: number }>(`/api/private/organizations/${organization}/sites`, body)
    await refreshMe()
    void client.invalidateQueries({ queryKey: ["sites"] })
    navigate(`/sites/new?site=${id}`, { replace: true })
  }
  return (
    <Form submit={create} label="Add a site">
      {({ busy, errorOf }) => (
        <>
          <NameAndHostsFields value={site} onValue={setSite} errorOf={errorOf} autofocus />
          <ZoneField value={timezone} onValue={setTimezone} error={errorOf("/timezone")} note="Days of the site are days of this zone." />
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
              Add the site
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
