import type { ReadRole } from "../../../domain/site.ts"
import type { OwnSiteResponse, SiteSettingsResponse } from "../../../domain/site-response.ts"
import { patch } from "../../api/api.ts"
import { useRefreshMe } from "../../api/session.ts"
import { ButtonLink } from "../../parts/button.tsx"
import { SelectField, TextField } from "../../parts/form/fields.tsx"
import { CurrencyField, ZoneField } from "../../parts/form/locale-fields.tsx"
import { SectionForm } from "../../parts/form/section-form.tsx"
import { hostsOf, NameAndHostsFields } from "../sites/site-fields.tsx"
import { SnippetTabs } from "../sites/snippets.tsx"
import { HostDisputes } from "./host-disputes.tsx"
import { sitePath, useRefreshSite } from "./settings.ts"

const READERS: readonly { value: ReadRole; label: string }[] = [
  { value: "viewer", label: "Everyone who can view the site" },
  { value: "editor", label: "Editors, admins and owners" },
  { value: "admin", label: "Admins and owners" },
]

const labelOf = (role: string): string => READERS.find(({ value }) => value === role)!.label

/** Renders the name, hosts, time zone, currency, visibility of revenue and snippet of a site. */
export function General({ site, settings }: { site: OwnSiteResponse; settings: SiteSettingsResponse }) {
  const refreshSite = useRefreshSite(site.id)
  const refreshMe = useRefreshMe()
  return (
    <>
      <SectionForm
        title="Name and hosts"
        shown={site}
        pick={({ name, hosts }) => ({ name, hosts: hosts.join("\n") })}
        save={({ name, hosts }, version) => patch(sitePath(site.id), { name, hosts: hostsOf(hosts), version })}
        refresh={() => Promise.all([refreshSite(), refreshMe()])}
        words={({ name, hosts }) => [
          ["Name", name],
          ["Hosts", hostsOf(hosts).join(", ")],
        ]}
      >
        {({ values, set, errorOf }) => <NameAndHostsFields value={values} onValue={set} errorOf={errorOf} />}
      </SectionForm>
      <HostDisputes siteId={site.id} disputes={settings.host_disputes} />
      <SectionForm
        title="Time zone and currency"
        shown={settings}
        pick={({ timezone, revenue_currency }) => ({ timezone, revenue_currency })}
        save={(values, version) => patch(`${sitePath(site.id)}/settings`, { ...values, version })}
        refresh={refreshSite}
        words={({ timezone, revenue_currency }) => [
          ["Time zone", timezone],
          ["Currency", revenue_currency],
        ]}
      >
        {({ values, set, errorOf }) => (
          <>
            <ZoneField value={values.timezone} onValue={(timezone) => set({ timezone })} error={errorOf("/timezone")} />
            <CurrencyField
              value={values.revenue_currency}
              onValue={(revenue_currency) => set({ revenue_currency })}
              error={errorOf("/revenue_currency")}
              note="Used for totals and for amounts sent without a currency. Recorded amounts keep their currency."
            />
          </>
        )}
      </SectionForm>
      <SectionForm
        title="Revenue"
        shown={settings}
        pick={({ order_property, read_role }) => ({ order_property, read_role: read_role as string })}
        save={(values, version) => patch(`${sitePath(site.id)}/settings`, { ...values, version })}
        refresh={() => Promise.all([refreshSite(), refreshMe()])}
        words={({ order_property, read_role }) => [
          ["Property with the order ID", order_property],
          ["Who can see revenue", labelOf(read_role)],
        ]}
      >
        {({ values, set, errorOf }) => (
          <>
            <TextField
              label="Property with the order ID"
              note="An event property. Events with the same order ID are one order. A change applies to new events."
              code
              value={values.order_property}
              onValue={(order_property) => set({ order_property })}
              error={errorOf("/order_property")}
            />
            <SelectField
              label="Who can see revenue"
              note="API keys, assistants, emails and shared views show revenue only while everyone can see it."
              value={values.read_role}
              onValue={(read_role) => set({ read_role })}
              options={READERS}
              error={errorOf("/read_role")}
            />
          </>
        )}
      </SectionForm>
      <section class="card stack" aria-labelledby="tracking-id">
        <h2 id="tracking-id">Tracking ID and snippet</h2>
        <dl class="facts">
          <dt>Tracking ID</dt>
          <dd>
            <code>{site.tracking_id}</code>
          </dd>
          <dt>Site ID in the API</dt>
          <dd>
            <code>{site.id}</code>
          </dd>
        </dl>
        <SnippetTabs site={site} />
        <p>
          <ButtonLink href={`/sites/new?site=${site.id}`}>Check installation</ButtonLink>
        </p>
      </section>
    </>
  )
}
