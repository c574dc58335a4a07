import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "preact/hooks"
import { Problem, post, send } from "../../api.ts"
import { boot } from "../../boot.ts"
import { browserCurrency } from "../../parts/browser-currency.ts"
import { ErrorState, Skeleton } from "../../parts/states.tsx"
import { browserZone } from "../../parts/zone-field.tsx"
import { AccessPage, InsecureNotice } from "./access-page.tsx"
import { forgetDraft, keepDraft, keptDraft } from "./setup-draft.ts"
import { type Admin, AdminStep, type FirstSite, SiteStep, type TokenAgain, TokenStep } from "./setup-steps.tsx"

const PATH = "/api/private/setup"

interface SetupState {
  needed: boolean
  token_expires_at?: string
  defaults: { timezone: string; currency: string }
}

const TITLES = ["Set up Footfall", "The first admin", "The first site"] as const

/** Three steps, nine inputs: the console's token, the first admin with an organization, the first site. */
export default function Setup() {
  const { data, error, refetch } = useQuery({
    queryKey: ["setup"],
    queryFn: ({ signal }) => send<SetupState>(PATH, { signal, isSignIn: true }),
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
  return data.needed ? <Steps state={data} /> : <SetUpAlready />
}

function SetUpAlready() {
  useEffect(forgetDraft, [])
  return (
    <AccessPage title="Footfall is set up">
      <p>The first admin was made already; a token of the console is used once.</p>
      <p>
        <a class="button" data-kind="primary" href={boot.me ? "/" : "/signin"}>
          {boot.me ? "Go on" : "Sign in"}
        </a>
      </p>
    </AccessPage>
  )
}

function Steps({ state }: { state: SetupState }) {
  const { defaults, token_expires_at } = state
  const [step, setStep] = useState(0)
  const [isUsed, setUsed] = useState(false)
  const [token, setToken] = useState("")
  const [kept] = useState(keptDraft)
  const [again, setAgain] = useState<TokenAgain | undefined>(kept && "reloaded")
  const [admin, setAdmin] = useState<Admin>({ name: "", email: "", organization: "", ...kept?.admin, password: "" })
  const [site, setSite] = useState<FirstSite>(kept?.site ?? { name: "", host: "", timezone: browserZone(), currency: currencyOf(defaults) })
  if (isUsed) return <SetUpAlready />

  const typeAdmin = (next: Admin) => {
    setAdmin(next)
    keepDraft(next, site)
  }
  const typeSite = (next: FirstSite) => {
    setSite(next)
    keepDraft(admin, next)
  }
  /** What came to an end meanwhile leads to where it is said; anything else is for the form to show. */
  const turn = (error: unknown): void => {
    if (!(error instanceof Problem) || !["already_set_up", "setup_token_invalid"].includes(error.code)) throw error
    setUsed(error.code === "already_set_up")
    if (error.code === "already_set_up") return
    if (step === 0) throw new Problem(error.status, error.code, TOKEN_WRONG)
    setAgain("expired")
    setStep(0)
  }
  const showToken = async () => {
    if (!(await faultsOf({ token }).catch(turn))) return
    setAgain(undefined)
    setStep(1)
  }
  const showAdmin = async () => {
    const faults = await faultsOf({ token, ...admin }).catch(turn)
    if (!faults) return
    refuse(faults)
    setStep(2)
  }
  const finish = async (withSite: boolean) => {
    const first = { name: site.name, hosts: [site.host], timezone: site.timezone, revenue_currency: site.currency }
    const whole = { token, ...admin, ...(withSite && { site: first }) }
    const faults = await faultsOf(whole).catch(turn)
    if (!faults) return
    refuse(faults)
    const made = await post<{ site?: { id: number } }>(PATH, whole, { isSignIn: true }).catch(turn)
    if (!made) return
    forgetDraft()
    // Loaded anew: from here on somebody is signed in.
    location.assign(made.site ? `/sites/${made.site.id}` : "/sites")
  }

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

/** What the program itself would take; another one was set by whoever runs it, and is no guess. */
const UNSET = "USD"
const currencyOf = ({ currency }: SetupState["defaults"]): string => (currency === UNSET ? (browserCurrency() ?? UNSET) : currency)

const TOKEN_WRONG =
  "This is not the token that the console has printed last. Each is good for 30 minutes, and a newer one makes it void: copy the latest one."

type Faults = NonNullable<Problem["members"]["errors"]>

/** What is wrong with a set-up as far as it is known; nothing is made. The token is judged before the rest. */
const faultsOf = async (body: object): Promise<Faults> =>
  (await post<{ errors: Faults }>(PATH, { ...body, dry_run: true }, { isSignIn: true })).errors

function refuse(faults: Faults): void {
  if (faults.length > 0) throw new Problem(422, "validation_failed", "Some entries are not right.", { errors: faults })
}
