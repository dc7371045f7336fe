// SPDX-License-Identifier: Apache-2.0

// Package version holds the one version number of the recorder, the library
// and both commands.
package version

// Version is the release that this source tree is, or becomes. A test compares
// it with CHANGELOG.md.
const Version = "0.1.0"
