import { useQuery, useQueryClient } from "@tanstack/react-query"
import type { ComponentChildren } from "preact"
import { Suspense } from "preact/compat"
import { useEffect, useState } from "preact/hooks"
import { get, Problem, post } from "../../api/api.ts"
import { Button } from "../../parts/button.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { Mark } from "../../parts/icon.tsx"
import { lazyPart } from "../../parts/loading.ts"
import { ErrorState } from "../../parts/states.tsx"
import { RangeTools } from "../../shell/range-tools.tsx"
import { visible } from "../../text/safe-text.tsx"
import { AccessPage } from "../access/access-page.tsx"
import { isEmbedded, themeInUrl, useEmbedding } from "./embedding.ts"

const FreshnessBar = lazyPart(() => import("../../report/freshness-bar.tsx"))

/** What every kind of share answers: its content, or that it needs a password. */
type Answer<View> = (View & { password_required: false }) | { password_required: true }

interface OpenShareProps<View> {
  /** Path of the share in the API. */
  path: string
  /** Draws the content. `onLocked` shows the form for the password again. */
  children(view: View, onLocked: () => void): ComponentChildren
}

/** The page of a share of any kind: its content, the form for its password, or the page of shares that don't exist. */
export function OpenShare<View>({ path, children }: OpenShareProps<View>) {
  const client = useQueryClient()
  const queryKey = ["share", path]
  const { data, error, refetch } = useQuery({ queryKey, queryFn: ({ signal }) => get<Answer<View>>(path, signal) })
  useShareTheme(data && "theme" in data ? String(data.theme) : undefined)
  useEmbedding()
  const reload = () => client.invalidateQueries({ queryKey })
  if (error instanceof Problem && error.status === 404) return <NoShare />
  if (error && !data)
    return (
      <AccessPage title="This view can't be shown right now">
        <ErrorState error={error} onRetry={() => void refetch()} />
      </AccessPage>
    )
  if (!data) return <div class="progress-line" />
  return data.password_required ? <Locked path={path} onUnlocked={reload} /> : children(data, () => void reload())
}

/**
 * Uses the theme of the URL, of the share, or of the system while a share is open. A theme chosen in the preferences applies to the user's
 * own pages only.
 */
function useShareTheme(theme = "auto"): void {
  useEffect(() => {
    const root = document.documentElement
    const before = root.dataset.theme
    root.dataset.theme = themeInUrl() ?? theme
    return () => {
      if (before !== undefined) root.dataset.theme = before
    }
  }, [theme])
}

/** Renders the same page for shares that never existed, expired or were revoked. */
export const NoShare = () => (
  <AccessPage title="Page not found">
    <p>This shared view doesn't exist or was removed.</p>
  </AccessPage>
)

function Locked({ path, onUnlocked }: { path: string; onUnlocked(): Promise<unknown> }) {
  const [password, setPassword] = useState("")
  const unlock = async () => {
    await post(`${path}/unlock`, { password }, { isSignIn: true })
    await onUnlocked()
  }
  return (
    <AccessPage title="Enter the password">
      <p>This shared view is protected. If you don't have the password, ask the person who sent you the link.</p>
      <Form submit={unlock}>
        {({ busy }) => (
          <>
            <TextField label="Password" type="password" value={password} onValue={setPassword} autocomplete="off" autofocus required />
            <div>
              <Button kind="primary" type="submit" busy={busy}>
                Open shared view
              </Button>
            </div>
          </>
        )}
      </Form>
    </AccessPage>
  )
}

interface ShareFrameProps {
  /** Name next to the logo. */
  name: string
  /** Content after the name. */
  beside?: ComponentChildren
  /** Whether viewers can change the period. */
  hasRange: boolean
  children: ComponentChildren
}

/** The bar of a share with the page below. An embedded share has no header. */
export function ShareFrame({ name, beside, hasRange, children }: ShareFrameProps) {
  const tools = hasRange && <RangeTools place="wide" />
  return (
    <>
      {!isEmbedded() ? (
        <header class="top-bar">
          <a class="button skip-link" href="#main">
            Skip to content
          </a>
          <span class="mark">
            <Mark />
            <span class="site-name">{visible(name)}</span>
          </span>
          {beside}
          <span class="grow" />
          {tools}
        </header>
      ) : (
        (beside || tools) && (
          // The tools of narrow windows are below the bar.
          <div class={`share-bar row${beside ? "" : " wide-only"}`}>
            {beside}
            {tools}
          </div>
        )
      )}
      <div class="content">
        {hasRange && <RangeTools place="narrow" />}
        <Suspense fallback={<div class="progress-line" />}>
          <FreshnessBar />
        </Suspense>
        {children}
      </div>
    </>
  )
}
