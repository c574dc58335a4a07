import type { ComponentType } from "preact"
import { Route, Switch } from "wouter"
import { sharePages } from "../../../plugins/share-pages.ts"
import { lazyScreen, withAreaStyles } from "../parts/loading.ts"

/** Page of a plugin's kind of share, with everything below it. */
export interface SharePage {
  /** Path before the slug, such as `/share/d`. */
  path: string
  load(): Promise<{ default: ComponentType }>
}

const NoShare = lazyScreen(() => import("../screens/share/share-page.tsx"), "NoShare")
const SharedView = lazyScreen(() => import("../screens/share/shared-view.tsx"))
const pluginScreens = sharePages.map(({ path, load }) => ({ path, Screen: lazyScreen(withAreaStyles(load)) }))

/** Chooses among the pages of shares. */
export function ShareRouter() {
  return (
    <Switch>
      <Route path="/share/s/:slug" component={SharedView} />
      {pluginScreens.map(({ path, Screen }) => (
        <Route key={path} path={`${path}/:slug/*?`} component={Screen} />
      ))}
      <Route component={NoShare} />
    </Switch>
  )
}
