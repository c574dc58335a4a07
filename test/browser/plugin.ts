/** `#plugin/test/browser`: support for a plugin's tests of its pages. */

export { noBrowser, openVisitor } from "./browser.ts"
export { tabTo } from "./people/access-stand.ts"
export { HOSTILE } from "./report/dashboard-data.ts"
export { type DashboardStand, dialogClosed, openDashboard, openSignedIn, settled, shown } from "./report/dashboard-stand.ts"
export { pluginScreens } from "./screens/plugin-screens.ts"
export { overflow, violations } from "./screens/screens.ts"
