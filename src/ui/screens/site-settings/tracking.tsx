import type { SiteSettingsResponse } from "../../../domain/site-response.ts"
import { patch } from "../../api/api.ts"
import { Checkbox, linesOf, TextArea, TextField } from "../../parts/form/fields.tsx"
import { SectionForm } from "../../parts/form/section-form.tsx"
import { sitePath, useRefreshSite } from "./settings.ts"

const yesNo = (value: boolean): string => (value ? "yes" : "no")

/** Renders which events are accepted or excluded and how they are counted. */
export function Tracking({ siteId, settings }: { siteId: number; settings: SiteSettingsResponse }) {
  const shared = {
    shown: settings,
    save: (values: object, version: number) => patch(`${sitePath(siteId)}/settings`, { ...values, version }),
    refresh: useRefreshSite(siteId),
  }
  return (
    <>
      <Accepted {...shared} />
      <IgnoredAddressParts {...shared} />
      <Counted {...shared} />
      <OtherProducts {...shared} />
    </>
  )
}

interface Shared {
  shown: SiteSettingsResponse
  save(values: object, version: number): Promise<unknown>
  refresh(): Promise<unknown>
}

const Accepted = ({ save, ...shared }: Shared) => (
  <SectionForm
    {...shared}
    title="Accepted events"
    pick={({ strict_origin, accept_any_host, hash_routing, allowed_query_params }) => ({
      strict_origin,
      accept_any_host,
      hash_routing,
      params: allowed_query_params.join("\n"),
    })}
    save={({ params, ...values }, version) => save({ ...values, allowed_query_params: linesOf(params) }, version)}
    words={(values) => [
      ["Only from the site's own pages", yesNo(values.strict_origin)],
      ["Accept events from any host", yesNo(values.accept_any_host)],
      ["Count hash routes as pages", yesNo(values.hash_routing)],
      ["Query parameters to keep", linesOf(values.params).join(", ")],
    ]}
  >
    {({ values, set, errorOf }) => (
      <>
        <Checkbox
          label="Only accept events from the site's own pages"
          note="Blocks events sent from other origins. Servers and apps must then use the server API."
          checked={values.strict_origin}
          onChange={(strict_origin) => set({ strict_origin })}
        />
        <Checkbox
          label="Accept events from any host"
          note="For pages served from many domains. Anyone who knows the tracking ID can then send events."
          checked={values.accept_any_host}
          onChange={(accept_any_host) => set({ accept_any_host })}
        />
        <Checkbox
          label="Count hash routes as pages"
          note="For single-page apps with URLs such as #/settings."
          checked={values.hash_routing}
          onChange={(hash_routing) => set({ hash_routing })}
        />
        <TextArea
          label="Query parameters to keep"
          note="One per line. All others are removed from page URLs before anything is stored."
          value={values.params}
          onValue={(params) => set({ params })}
          error={errorOf("/allowed_query_params")}
          rows={3}
        />
      </>
    )}
  </SectionForm>
)

const DROPS = [
  ["drop_bots", "Bots", "Crawlers, link previews and scripts, recognized by their user agent."],
  ["drop_spam", "Spam referrers", "Fake visits that advertise a site in your reports."],
  ["drop_probes", "Vulnerability scans", "Requests for pages only attackers look for."],
  ["drop_datacenters", "Data centres", "Visits from server networks. Some people use these networks, too, for example through a VPN."],
] as const

const IgnoredAddressParts = ({ save, ...shared }: Shared) => (
  <SectionForm
    {...shared}
    title="Excluded traffic"
    pick={({ drop_bots, drop_spam, drop_probes, drop_datacenters, respect_gpc }) => ({
      drop_bots,
      drop_spam,
      drop_probes,
      drop_datacenters,
      respect_gpc,
    })}
    save={(values, version) => save(values, version)}
    words={(values) => [
      ...DROPS.map(([name, label]) => [label, yesNo(values[name])] as const),
      ["Visitors who send Do Not Track or GPC", yesNo(values.respect_gpc)],
    ]}
  >
    {({ values, set }) => (
      <div class="switches">
        {DROPS.map(([name, label, note]) => (
          <Checkbox key={name} label={label} note={note} checked={values[name]} onChange={(checked) => set({ [name]: checked })} />
        ))}
        <Checkbox
          label="Visitors who send Do Not Track or GPC"
          note="Their events are dropped. Otherwise they are counted without a persistent ID."
          checked={values.respect_gpc}
          onChange={(respect_gpc) => set({ respect_gpc })}
        />
      </div>
    )}
  </SectionForm>
)

const Counted = ({ save, ...shared }: Shared) => (
  <SectionForm
    {...shared}
    title="Counting"
    pick={({ bounce_engaged_seconds, min_group }) => ({ bounce: String(bounce_engaged_seconds), group: String(min_group) })}
    save={({ bounce, group }, version) => save({ bounce_engaged_seconds: Number(bounce), min_group: Number(group) }, version)}
    words={({ bounce, group }) => [
      ["Not a bounce after (seconds engaged)", bounce],
      ["Smallest group shown in shared views", group],
    ]}
  >
    {({ values, set, errorOf }) => (
      <>
        <TextField
          label="Not a bounce after (seconds engaged)"
          note="With 0, a visit with a single page is always a bounce."
          type="number"
          min={0}
          max={86_400}
          value={values.bounce}
          onValue={(bounce) => set({ bounce })}
          error={errorOf("/bounce_engaged_seconds")}
        />
        <TextField
          label="Smallest group shown in shared views"
          note="Shared views hide rows with fewer visitors."
          type="number"
          min={1}
          max={100}
          value={values.group}
          onValue={(group) => set({ group })}
          error={errorOf("/min_group")}
        />
      </>
    )}
  </SectionForm>
)

const PRODUCTS = [
  ["plausible", "Plausible: domains"],
  ["umami", "Umami: website IDs"],
  ["goatcounter", "GoatCounter: codes"],
] as const

const OtherProducts = ({ save, ...shared }: Shared) => (
  <SectionForm
    {...shared}
    title="IDs from other products"
    pick={({ compat_ids: { plausible, umami, goatcounter } }) => ({
      plausible: plausible.join("\n"),
      umami: umami.join("\n"),
      goatcounter: goatcounter.join("\n"),
    })}
    save={(values, version) =>
      save({ compat_ids: Object.fromEntries(PRODUCTS.map(([product]) => [product, linesOf(values[product])])) }, version)
    }
    words={(values) => PRODUCTS.map(([product, label]) => [label, linesOf(values[product]).join(", ")])}
  >
    {({ values, set, errorOf }) => (
      <>
        <p class="quiet">Trackers of these products keep working with their existing IDs.</p>
        {PRODUCTS.map(([product, label]) => (
          <TextArea
            key={product}
            label={label}
            note="One per line."
            value={values[product]}
            onValue={(text) => set({ [product]: text })}
            error={linesOf(values[product]).flatMap((_, index) => errorOf(`/compat_ids/${product}/${index}`) ?? [])[0]}
            rows={2}
          />
        ))}
      </>
    )}
  </SectionForm>
)
