import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "preact/hooks"
import { hostFromInput } from "../../../domain/host.ts"
import type { FaultsResponse, SetupCompletedResponse, SetupResponse } from "../../../domain/sign-in.ts"
import { Problem, post, send } from "../../api/api.ts"
import { boot } from "../../api/session.ts"
import { browserCurrency, browserZone } from "../../parts/form/locale-fields.tsx"
import { ErrorState, Skeleton } from "../../parts/states.tsx"
import { AccessPage, InsecureNotice } from "./access-page.tsx"
import { type Admin, AdminStep, type FirstSite, SiteStep, type TokenAgain, TokenStep } from "./setup-steps.tsx"

const PATH = "/api/private/setup"

const TITLES = ["Set up Footfall", "Create your account", "Add your first site"] as const

/** Renders the three setup steps (nine inputs): setup token, first admin with an organization, first site. */
export default function Setup() {
  const { data, error, refetch } = useQuery({
    queryKey: ["setup"],
    queryFn: ({ signal }) => send<SetupResponse>(PATH, { signal, isSignIn: true }),
  })
  if (error && !data)
    return (
      <AccessPage title={TITLES[0]}>
        <ErrorState error={error} onRetry={() => void refetch()} />
      </AccessPage>
    )
  if (!data)
    return (
      <AccessPage title={TITLES[0]}>
        <Skeleton rows={3} />
      </AccessPage>
    )
  return data.needed ? <Steps state={data} /> : <AlreadySetUp />
}

function AlreadySetUp() {
  useEffect(removeDraft, [])
  return (
    <AccessPage title="Footfall is already set up">
      <p>Setup is complete, and the setup token can't be used again.</p>
      <p>
        <a class="button" data-kind="primary" href={boot.me ? "/" : "/signin"}>
          {boot.me ? "Continue" : "Sign in"}
        </a>
      </p>
    </AccessPage>
  )
}

function Steps({ state }: { state: SetupResponse }) {
  const { defaults, token_expires_at } = state
  const [step, setStep] = useState(0)
  const [isUsed, setUsed] = useState(false)
  const [token, setToken] = useState(tokenOfLink)
  const [isFromLink] = useState(token !== "")
  const [saved] = useState(readDraft)
  const [again, setAgain] = useState<TokenAgain | undefined>(saved && !isFromLink ? "reloaded" : undefined)
  const [admin, setAdmin] = useState<Admin>({ name: "", email: "", organization: "", ...saved?.admin, password: "" })
  const [site, setSite] = useState<FirstSite>(
    saved?.site ?? { name: "", host: "", timezone: browserZone(), currency: currencyOf(defaults) },
  )
  const typeAdmin = (next: Admin) => {
    setAdmin(next)
    saveDraft(next, site)
  }
  const typeSite = (next: FirstSite) => {
    setSite(next)
    saveDraft(admin, next)
  }
  /** Handles a token that expired or setup that was completed meanwhile. Rethrows any other error for the form to show. */
  const handleOutdated = (error: unknown): void => {
    if (!(error instanceof Problem) || !["already_set_up", "setup_token_invalid"].includes(error.code)) throw error
    setUsed(error.code === "already_set_up")
    if (error.code === "already_set_up") return
    if (step === 0) throw new Problem(error.status, error.code, TOKEN_WRONG)
    setAgain("expired")
    setStep(0)
  }
  const showToken = async () => {
    if (!(await faultsOf({ token }).catch(handleOutdated))) return
    setAgain(undefined)
    setStep(1)
  }
  useEffect(() => {
    // With a token that is not valid the first step stays, and its form says so when it is sent.
    if (isFromLink) showToken().catch(() => {})
  }, [])
  const showAdmin = async () => {
    const faults = await faultsOf({ token, ...admin }).catch(handleOutdated)
    if (!faults) return
    refuse(faults)
    setStep(2)
  }
  const finish = async (withSite: boolean) => {
    const first = { name: site.name, hosts: [hostFromInput(site.host)], timezone: site.timezone, revenue_currency: site.currency }
    const whole = { token, ...admin, ...(withSite && { site: first }) }
    const faults = await faultsOf(whole).catch(handleOutdated)
    if (!faults) return
    refuse(faults)
    const created = await post<SetupCompletedResponse>(PATH, whole, { isSignIn: true }).catch(handleOutdated)
    if (!created) return
    removeDraft()
    // A full page load, because the new admin is signed in from here on.
    location.assign(created.site ? `/sites/${created.site.id}` : "/sites")
  }

  if (isUsed) return <AlreadySetUp />
  return (
    <AccessPage title={TITLES[step]!} key={step}>
      <p class="quiet" aria-current="step">
        Step {step + 1} of {TITLES.length}
      </p>
      <InsecureNotice />
      {step === 0 && <TokenStep token={token} onToken={setToken} expiresAt={token_expires_at} again={again} onDone={showToken} />}
      {step === 1 && <AdminStep admin={admin} onAdmin={typeAdmin} onDone={showAdmin} />}
      {step === 2 && <SiteStep site={site} onSite={typeSite} onDone={finish} onBack={() => setStep(1)} />}
    </AccessPage>
  )
}

/** Returns the token in the fragment of the link that the terminal printed, or "". Removes it from the address bar and the history. */
function tokenOfLink(): string {
  const token = location.hash.slice(1)
  if (token !== "") history.replaceState(history.state, "", location.pathname + location.search)
  return token
}

/** Built-in default currency. A different default was set by the administrator and takes precedence over the browser's. */
const UNSET = "USD"
const currencyOf = ({ currency }: SetupResponse["defaults"]): string => (currency === UNSET ? (browserCurrency() ?? UNSET) : currency)

const TOKEN_WRONG = "That token isn't valid. Tokens last 30 minutes and a new one replaces the old one. Copy the latest from the terminal."

type Faults = NonNullable<Problem["members"]["errors"]>

/** Validates the entries so far without creating anything. The token is checked first. */
const faultsOf = async (body: object): Promise<Faults> =>
  (await post<FaultsResponse>(PATH, { ...body, dry_run: true }, { isSignIn: true })).errors

function refuse(faults: Faults): void {
  if (faults.length > 0) throw new Problem(422, "validation_failed", "Check the highlighted fields.", { errors: faults })
}

/**
 * The setup form's entries, stored so that they survive a reload of the tab. The setup token and the password are never stored:
 * browsers write session storage to disk, and either of them grants access.
 */
interface SetupDraft {
  admin: Omit<Admin, "password">
  site: FirstSite
}

const KEY = "footfall.setup"

function readDraft(): SetupDraft | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(KEY) ?? "null") as SetupDraft | null) ?? undefined // written below
  } catch {
    return undefined
  }
}

function saveDraft({ password: _, ...admin }: Admin, site: FirstSite): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ admin, site } satisfies SetupDraft))
  } catch {
    // Storage may be forbidden or full. Only a reload of the tab would miss the draft.
  }
}

/** Removes the draft after setup is complete. */
function removeDraft(): void {
  try {
    sessionStorage.removeItem(KEY)
  } catch {
    // Storage that is forbidden holds no draft.
  }
}
