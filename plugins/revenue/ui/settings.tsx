import { useState } from "preact/hooks"
import {
  Button,
  Checkbox,
  currentVersion,
  Form,
  post,
  put,
  QueryResult,
  SelectField,
  TextArea,
  TextField,
  toast,
  UnsavedGuard,
  useSite,
  useSiteId,
  useUnsaved,
  VersionConflict,
} from "#plugin/ui"
import type { SettingsResponse } from "../settings.ts"
import { revenuePath, useRefresh, useRights, useSiteQuery } from "./answers.ts"
import { RevenuePage } from "./frame.tsx"

const BASES = [
  { value: "refund_date", label: "On their own day" },
  { value: "order_date", label: "On the day of the order" },
]

/** Page with the settings of the area. People who may not change them can read them. */
export default function Settings() {
  const siteId = useSiteId()
  const answer = useSiteQuery<SettingsResponse>(siteId, "revenue/settings")
  return (
    <RevenuePage siteId={siteId} title="Revenue settings">
      <QueryResult of={answer} rows={8}>
        {(data) => <Editor key={data.version} siteId={siteId} saved={data} />}
      </QueryResult>
    </RevenuePage>
  )
}

function Editor({ siteId, saved }: { siteId: number; saved: SettingsResponse }) {
  const { changesSettings } = useRights(siteId)
  const { data: site } = useSite(siteId)
  const refresh = useRefresh(siteId)
  const [draft, setDraft] = useState(() => draftOf(saved))
  const [conflict, setConflict] = useState<SettingsResponse>()
  const change = (changes: Partial<Draft>) => setDraft({ ...draft, ...changes })
  const isChanged = JSON.stringify(draft) !== JSON.stringify(draftOf(saved))
  useUnsaved(isChanged)
  const save = async (version: number) => {
    await put(`${revenuePath(siteId)}/settings`, { ...bodyOf(draft), version })
    await refresh()
    toast("Revenue settings saved")
  }
  return (
    <div class="stack reading-width">
      <UnsavedGuard />
      {saved.recomputing && (
        <p class="notice" role="status">
          Transactions are being attributed and converted again. The report shows what is done.
        </p>
      )}
      {saved.recompute_failed && (
        <p class="notice" data-kind="warn" role="alert">
          The last recomputation failed. Some transactions have their earlier amounts and attribution until all are recomputed.
        </p>
      )}
      <div class="card">
        <Form
          label="Revenue settings"
          submit={() =>
            save(saved.version).catch((error) => {
              const current = currentVersion<SettingsResponse>(error)
              if (!current) throw error
              setConflict(current)
            })
          }
        >
          {({ busy, errorOf }) => (
            <fieldset class="plain-set" disabled={!changesSettings}>
              <TextField
                label="Base currency"
                value={draft.base_currency}
                onValue={(base_currency) => change({ base_currency })}
                error={errorOf("/base_currency")}
                maxLength={3}
                placeholder={site?.revenue_currency ?? ""}
                note={`The currency that amounts are converted to. Leave empty for that of the site${site ? `, ${site.revenue_currency}` : ""}.`}
              />
              <SelectField
                label="Book refunds"
                value={draft.refund_basis}
                options={BASES}
                onValue={(refund_basis) => change({ refund_basis })}
                note="If they are booked on their own day, the figures of an earlier month never change."
              />
              <Checkbox
                label="Include unverified revenue"
                note="Amounts that only a browser or an import reported. Anyone who visits the site can send such amounts."
                checked={draft.include_client}
                onChange={(include_client) => change({ include_client })}
              />
              <TextField
                label="Look-back in days"
                type="number"
                min={1}
                max={365}
                value={draft.lookback_days}
                onValue={(lookback_days) => change({ lookback_days })}
                error={errorOf("/lookback_days")}
                note="How long before a sale a visit can be credited with it, at most as long as visitors are recognized."
              />
              <TextArea
                label="Ignored referrers"
                value={draft.ignored_referrers}
                onValue={(ignored_referrers) => change({ ignored_referrers })}
                error={errorOf("/ignored_referrers")}
                rows={6}
                note={
                  saved.ignored_referrers_are_default
                    ? "One host per line. Visits that return from a payment page aren't credited. This is the list that comes with Footfall."
                    : "One host per line. Visits that return from a payment page aren't credited."
                }
              />
              {changesSettings ? (
                <div class="row">
                  <Button kind="primary" type="submit" busy={busy} disabled={!isChanged}>
                    Save changes
                  </Button>
                  <Recompute siteId={siteId} isRunning={saved.recomputing} />
                </div>
              ) : (
                <p class="quiet">Only admins can change these settings.</p>
              )}
            </fieldset>
          )}
        </Form>
      </div>
      {conflict && (
        <VersionConflict
          mine={textsOf(draft)}
          theirs={textsOf(draftOf(conflict))}
          onClose={() => setConflict(undefined)}
          onMine={async () => {
            await save(conflict.version)
            setConflict(undefined)
          }}
          onTheirs={async () => {
            await refresh()
            setConflict(undefined)
          }}
        />
      )}
    </div>
  )
}

/** Starts the recomputation that changes of rates and settings start by themselves. */
function Recompute({ siteId, isRunning }: { siteId: number; isRunning: boolean }) {
  const [busy, setBusy] = useState(false)
  const refresh = useRefresh(siteId)
  return (
    <Button
      busy={busy}
      disabled={isRunning}
      onClick={async () => {
        setBusy(true)
        try {
          await post(`${revenuePath(siteId)}/recompute`, {})
          await refresh()
          toast("Recomputation started")
        } catch (error) {
          toast((error as Error).message)
        } finally {
          setBusy(false)
        }
      }}
    >
      Recompute all transactions
    </Button>
  )
}

/** The settings as the fields of the form hold them. */
interface Draft {
  base_currency: string
  refund_basis: string
  include_client: boolean
  lookback_days: string
  ignored_referrers: string
}

const draftOf = ({ base_currency, refund_basis, include_client, lookback_days, ignored_referrers }: SettingsResponse): Draft => ({
  base_currency: base_currency ?? "",
  refund_basis,
  include_client,
  lookback_days: String(lookback_days),
  ignored_referrers: ignored_referrers.join("\n"),
})

const bodyOf = ({ base_currency, refund_basis, include_client, lookback_days, ignored_referrers }: Draft) => ({
  base_currency: base_currency.trim() === "" ? null : base_currency.trim().toUpperCase(),
  refund_basis,
  include_client,
  lookback_days: /^\d+$/.test(lookback_days.trim()) ? Number(lookback_days) : lookback_days,
  ignored_referrers: ignored_referrers
    .split(/\s+/)
    .map((host) => host.trim())
    .filter((host) => host !== ""),
})

const textsOf = (draft: Draft) =>
  [
    ["Base currency", draft.base_currency],
    ["Book refunds", draft.refund_basis],
    ["Include unverified revenue", draft.include_client ? "Yes" : "No"],
    ["Look-back in days", draft.lookback_days],
    ["Ignored referrers", draft.ignored_referrers],
  ] as const
