package watch

import "golang.org/x/sys/unix"

// remoteSystem names the file system of a path where it is one that others may
// change without an event here: over a network, or of the host of a virtual
// machine; "" where it is none.
func remoteSystem(path string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return ""
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return "SMB"
	case unix.V9FS_MAGIC:
		return "9P"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "AFS"
	case unix.FUSE_SUPER_MAGIC:
		return "FUSE"
	}
	return ""
}
